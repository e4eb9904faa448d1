#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles with attn, torch, Triton and JAX in one process, each of which has an LLVM.

usage: frameworks.py cpu|cuda NAME...

imports the named ones of torch, triton, jax and attn in the order given, then compiles
something with each, attn before and after the others, and ends with status 0 if all
results are right. Triton, which needs a GPU to run, only compiles on the CPU."""

import os
import sys
import tempfile

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
DEVICE = sys.argv[1]
for name in sys.argv[2:]:
    if name == "attn" and not os.environ.get("ATTN_INSTALLED"):
        import package_support  # finds the package
    __import__(name)

import attn
import torch


def check_attn(head_dim):
    q, k, v = (torch.randn(2, 4, 40, head_dim, device=DEVICE).half() for _ in range(3))
    with torch.no_grad():
        got = attn.sdpa(q, k, v, is_causal=True).double()
        want = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
    assert (got - want).abs().max() < 4e-3, "attn is wrong"


def check_torch():
    x = torch.randn(100, device=DEVICE)
    assert torch.allclose(torch.compile(lambda x: torch.sin(x) * 2 + x)(x), torch.sin(x) * 2 + x), "torch is wrong"


KERNEL = """
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
"""


def check_triton():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "triton_kernel.py"), "w", encoding="utf-8") as file:
            file.write(KERNEL)
        sys.path.insert(0, folder)
        from triton_kernel import double
    import triton

    if DEVICE == "cpu":
        from triton.backends.compiler import GPUTarget

        source = triton.compiler.ASTSource(fn=double, signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"},
                                           constexprs={(3,): 128})
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
        assert "double" in compiled.asm["ptx"], "Triton made nothing"
        return
    x = torch.randn(1000, device="cuda")
    y = torch.empty_like(x)
    double[8,](x, y, 1000, BLOCK=128)
    assert torch.equal(y, x * 2), "Triton is wrong"


def check_jax():
    import jax

    x = jax.numpy.arange(64.0).reshape(8, 8)
    assert jax.numpy.allclose(jax.jit(lambda x: jax.numpy.sin(x) @ x)(x), jax.numpy.sin(x) @ x), "JAX is wrong"


CHECKS = {"torch": check_torch, "triton": check_triton, "jax": check_jax}

check_attn(64)
for name in sys.argv[2:]:
    if name in CHECKS:
        CHECKS[name]()
check_attn(96)
# What each of them compiled still works.
check_attn(64)
print("right with", *sys.argv[2:])
