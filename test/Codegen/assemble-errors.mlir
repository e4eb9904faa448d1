// REQUIRES: ptxas
// RUN: attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=%ptxas -split-input-file -verify-diagnostics
// RUN: not attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=/nowhere/ptxas -split-input-file 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not attn-opt %s --attn-emit-ptx --attn-assemble=ptxas=/bin/true -split-input-file 2>&1 | FileCheck %s --check-prefix=MUTE

// ABSENT: error: expected ptxas 12.8 or newer, got: /nowhere/ptxas (absent)
// MUTE: error: expected ptxas 12.8 or newer, got: /bin/true (does not say its version)

// ptxas' own words are passed on.
// expected-error-re @+1 {{expected ptxas to accept the PTX, got status {{.*}}Not a name of any known instruction: 'frobnicate'}}
gpu.module @unknown_instruction [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%x: i32) attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "frobnicate $0;", "r" %x : (i32) -> ()
    llvm.return
  }
}

// -----

// The next A is written while the last one is being read.
// expected-error @+2 {{expected no spill and no serialized instruction in 'serialized', got 1}}
// expected-note @+1 {{(C7513) Potential Performance Loss: wgmma.mma_async instructions are serialized}}
gpu.module @serialized [#nvvm.target<chip = "sm_90a">] {
  llvm.func @f(%p: !llvm.ptr<1>, %steps: i32, %b: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %a0 = llvm.load %p : !llvm.ptr<1> -> vector<4xi32>
    %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%o = %zero, %a = %a0) -> (vector<8xf32>, vector<4xi32>) : i32 {
      %d = nvx.wgmma bf16 a(%a : vector<4xi32>) b(%b) acc(%o : vector<8xf32>) {b_desc_hi = 0x40000040 : i32,
        b_offsets = array<i32: 0>, transpose_b} : vector<8xf32>
      %next = llvm.load %p : !llvm.ptr<1> -> vector<4xi32>
      %e = nvx.wgmma_wait 0 (%d) : vector<8xf32>
      scf.yield %e, %next : vector<8xf32>, vector<4xi32>
    }
    llvm.store %r#0, %p : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }
}
