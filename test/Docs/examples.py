# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of a dialect has an example, and attn-opt accepts it: examples.py ATTN_OPT PAGE...

An example is Markdown after **Example** in the section of an op. It is put into the first
program of its level that accepts it: a module, a tile.kernel, a ws.kernel or a launch.plan. Names that it
uses without defining them are those of VALUES and DECLARATIONS."""

import re
import subprocess
import sys

ALIASES = """#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#bhsd = affine_map<(b, h, i, c) -> (b, h, i, c)>
#problem = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd,
  mask = none, score_region = absent, mask_region = absent>
#schedule = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 role wg[2] warps 4 regs 240 }>
"""
CONFIG = "#config = #attn.config<tile_m = 128, tile_n = 128, %s>\n"
CONFIGS = ["work = grid", "work = dynamic", "work = dynamic, row_max = first_block", "work = grid, row_max = first_block",
           "work = dynamic, cluster = 2", "work = dynamic, last_wave_parts = 8"]
VALUES = {
    "attn": {"tensor<?x?x?x128xbf16>": "q k v o do", "f32": "scale cap", "tensor<?xf32>": "slopes sinks",
             "tensor<?x?x?xf32>": "lse dlse lse2 delta sums", "tensor<?x?x?x128xf32>": "sums"},
    "tile": {
        "!tile.work": "w",
        "i32": "blocks heads batches batch head row n i length parts hi mid lo iteration from gap w0 w1 w2 drop block next",
        "i64": "seed offset",
        "i1": "failed begins waits", "f32": "scale",
        "tensor<?x?x?x64xbf16>": "x y", "tensor<?x?x?x64xf32>": "dq", "tensor<?x?x?xf32>": "lse", "tensor<?x?x?xbf16>": "bias", "tensor<?x?xi32>": "ids", "tensor<?x?x?xi32>": "turns",
        "tensor<64x64xbf16>": "q o rows", "tensor<128x64xbf16>": "k v t", "tensor<64x128xbf16>": "p",
        "tensor<64x128xf32>": "s sum t", "tensor<64x128xi32>": "keys queries",
        "tensor<64x64xf32>": "acc", "tensor<64xf32>": "l", "tensor<64xi1>": "overflow",
        "tensor<64x128xbf16, #tile.layout<atom = wgmma_acc, repeats = 16>>": "p16"},
    "ws": {
        "!tile.work": "w",
        "i32": "blocks heads batches b h row column n offset replica hi mid lo",
        "i1": "failed", "tensor<?x?x?x128xf32>": "sums", "!ws.slot<@lse, tensor<64xf32>>": "full",
        "tensor<?x?x?x64xbf16>": "q out", "tensor<64x64xbf16>": "o", "tensor<64x128xbf16>": "p",
        "!ws.slot<@k, tensor<128x64xbf16>>": "slot", "!ws.slot<@qe, tensor<64x64xbf16>>": "held"},
    "nvx": {
        "i1": "waits", "i32": "qdesc kdesc vdesc parity cursor turn", "vector<32xi32>": "p", "vector<64xf32>": "o0 s s0", "vector<16xf32>": "x",
        "vector<2xf32>": "pair", "!llvm.ptr<3>": "barrier source",
        "!llvm.ptr<1>": "base address"},
}
DECLARATIONS = {  # of a ws.kernel
    "k": "ws.channel @k [tensor<128x64xbf16>] depth 2",
    "work": "ws.channel @work [tensor<4xi32>] depth 2",
    "oe": "ws.hold @oe tensor<64x64xbf16> pieces 2",
    "verdict": "ws.verdict @verdict",
    "wg": "ws.role @wg warps 4 regs 240 replicas 2 {\n^bb0(%me: i32):\n}",
}


def used_values(dialect, example):
    """The values that an example uses without defining them, by type."""
    defined = set(re.findall(r"%(\w+)(?=:)", example))
    for names in re.findall(r"(?m)^\s*((?:%\w+, )*%\w+) = ", example):
        defined.update(re.findall(r"%(\w+)", names))
    used = set(re.findall(r"%(\w+)", example)) - defined
    kinds = [(f"%{name}", kind) for kind, names in VALUES[dialect].items() for name in names.split() if name in used]
    several = {name for name, _ in kinds if sum(name == each for each, _ in kinds) > 1}
    return [(name, kind) for name, kind in kinds if name not in several or kind in example]


def plan(example):
    """A launch plan around an op of one."""
    kernel = "launch.kernel @any grid 1 block 32 cluster 1 shared 0 params []"
    last = "launch.variant workspace 0 {\n%s\n}"
    body = (example + "\n" + last % kernel if re.match(r"launch\.(check|temporary|variant)", example)
            else last % (example if example.startswith("launch.kernel") else f"{example}\n{kernel}"))
    binary = 'gpu.binary @example [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]\n'
    arguments = {"x": "tensor<?x?x?x?xf32>", "o": "tensor<?x?x?x64xbf16>", "hk": "i32", "scale": "f32"}
    return (ALIASES.replace("kind = fwd", "kind = custom") + binary +
            'launch.plan @example target "sm_90a" args ["x" ("b", "sq", "hq", "sk"), "o", "hk", "scale"] problem #problem {\n'
            f"^bb0({', '.join(f'%{name}: {kind}' for name, kind in arguments.items())}):\n{body}\n}}")


def programs(dialect, example):
    if example.startswith("launch."):
        return [ALIASES + example if re.match(r"launch\.(plan|sequence)", example) else plan(example)]
    values = used_values(dialect, example)
    arguments = ", ".join(f"{name}: {kind}" for name, kind in values)
    names = ", ".join(f'"{name[1:]}"' for name, _ in values)
    if re.match(r"(attn\.table_entry|tile\.kernel|ws\.kernel)", example):
        return [ALIASES + CONFIG % CONFIGS[0] + example]
    if example.startswith("tile.work {"):
        return [f"{ALIASES}tile.kernel @example args [{names}] problem #problem {{\n^bb0({arguments}):\n{example}\n}}"]
    if re.match(r"ws\.(channel|hold|edge|turn|rendezvous|setup|role|verdict|mailbox|stamps)\b", example):
        declared = "\n".join(text for name, text in DECLARATIONS.items() if f"ws.{text.split()[0][3:]} @{name}" not in example
                             and (f"@{name}" in example or name == "wg"))
        return [ALIASES + CONFIG % config + f'ws.kernel @example machine "sm_90a" args [{names}] problem #problem '
                f"config #config schedule #schedule {{\n^bb0({arguments}):\n{declared}\n{example}\n}}" for config in CONFIGS]
    results = ", ".join(name for name, _ in values)
    kinds = ", ".join(kind for _, kind in values)
    return [ALIASES + (f'{results} = "example.values"() : () -> ({kinds})\n' if values else "") + example]


def error(attn_opt, dialect, example):
    """Why attn-opt refuses an example; empty if it accepts it."""
    for program in programs(dialect, example):
        done = subprocess.run([attn_opt, "-", "--allow-unregistered-dialect"], input=program, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, universal_newlines=True)
        if not done.returncode:
            return ""
    return done.stderr


def main(attn_opt, *pages):
    ops = errors = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            sections = re.findall(r"^### `(\w+)\.(\w+)` \((?=.*Op\))[^\n]*\n(.*?)(?=^##|\Z)", file.read(), re.M | re.S)
        for dialect, op, text in sections:
            ops += 1
            examples = re.findall(r"\*\*Example\*\*\s+(?:```mlir\n(.*?)^```|`([^`\n]+)`)", text, re.M | re.S)
            problems = [] if examples else ["expected an **Example**"]
            for block, line in examples:
                example = block or line
                if not re.search(rf"{dialect}\.{op}\b", example):
                    problems.append(f"expected an example of the op, got\n{example}")
                problems.append(error(attn_opt, dialect, example))
            for problem in filter(None, problems):
                errors += 1
                print(f"{dialect}.{op}: {problem}")
    print(f"{ops} ops, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
