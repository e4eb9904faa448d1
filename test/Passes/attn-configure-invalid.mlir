// What attn-configure refuses.
// RUN: attn-opt %s --attn-configure -split-input-file -verify-diagnostics
// RUN: not attn-opt %examples/causal.mlir --attn-configure=target=sm_80 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %examples/full_d64.mlir --attn-configure=schedule-file=%attn_root/codegen/data/schedules/fwd_d128.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FILE

// TARGET: causal.mlir:{{[0-9:]+}}: error: 'attn.attention' op expected a target among {{.*}}'sm_90a', got 'sm_80'
// FILE: full_d64.mlir:{{[0-9:]+}}: error: 'attn.attention' op expected the entry '@fwd_d128' of '{{.*}}fwd_d128.mlir' to be for fwd, head dims 64 and 64, mask 'none', got fwd, head dims 128 and 128

// The message goes on with the head dims that the table has.
!t = tensor<?x?x?x112xbf16>
!l = tensor<?x?x?xf32>
func.func @head_dim(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error-re @below {{'attn.attention' op expected a schedule for fwd, head dims 112 and 112, mask 'none', on 'sm_90a' in the table, which has{{.*}}}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @tile_m(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'tile_m' of 'config' to be a multiple of 64, got 96}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 96, tile_n = 128, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @tile_n(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'tile_n' of 'config' to be a multiple of 16, got 8}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 8, work = grid> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
