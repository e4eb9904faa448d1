// Errors of attn-configure.
// RUN: not attn-opt %examples/causal.mlir --attn-configure=target=sm_100a 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: attn-opt %s --attn-configure -split-input-file -verify-diagnostics
// RUN: not attn-opt %examples/causal.mlir --attn-configure=target=sm_80 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not attn-opt %examples/causal.mlir --attn-configure=schedule-file=%attn_root/passes/schedule/data/schedules/sm_90a/fwd_d64.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FILE

// TARGET: causal.mlir:{{[0-9:]+}}: error: 'attn.attention' op expected a target among {{.*}}'sm_90a', got 'sm_80'
// FILE: causal.mlir:{{[0-9:]+}}: error: 'attn.attention' op expected the entry '@fwd_d64' of '{{.*}}fwd_d64.mlir' to be for fwd, bf16, head dims 128 and 128, mask 'causal_bottom_right', got fwd, bf16 or f16, head dims 64 and 64

// The message continues with the entries of the table.
// NONE: error: 'attn.attention' op expected a schedule for fwd, bf16, head dims 128 and 128, mask 'causal_bottom_right', on 'sm_100a' in the table, which has
// NONE: @fwd_d96: fwd, bf16 or f16, head dims 96 and 96, mask {{.*}}, on 'sm_90a'

!t = tensor<?x?x?x72xbf16>
!l = tensor<?x?x?xf32>
func.func @tile_d(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'tile_d' of 'config' to be a multiple of 16 that holds head dim 72, got 64}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid, tile_d = 64> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// -----

// A tile without a number of columns has as many as the head dim.
!t = tensor<?x?x?x64xbf16>
!v = tensor<?x?x?x72xbf16>
!l = tensor<?x?x?xf32>
func.func @tile_dv(%q: !t, %k: !t, %v: !v, %scale: f32) -> (!v, !l) {
  // expected-error @below {{'attn.attention' op expected 'tile_dv' of 'config' to be a multiple of 16 that holds head dim 72, got 0}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid> : (!t, !t, !v) -> (!v, !l)
  return %o, %lse : !v, !l
}

// -----

// 2^16 is too large for f16.
!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @rescale_threshold(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected 'rescale_threshold' of 'config' to be at most 15 for f16, got 16}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      config <tile_m = 128, tile_n = 128, work = grid, rescale_threshold = 16> : (!t, !t, !t) -> (!t, !l)
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

// -----

// Too much to compile on any rung: 13 remainders of 200, and a comparison.
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
func.func @region_weight(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  // expected-error @below {{'attn.attention' op expected the score and mask regions to weigh at most 2560 (an addition 1, a tanh 25, an element that is read 60), got 2601}}
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      mask_region {
      ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
        %0 = arith.remsi %i, %j : i32
        %1 = arith.remsi %0, %j : i32
        %2 = arith.remsi %1, %j : i32
        %3 = arith.remsi %2, %j : i32
        %4 = arith.remsi %3, %j : i32
        %5 = arith.remsi %4, %j : i32
        %6 = arith.remsi %5, %j : i32
        %7 = arith.remsi %6, %j : i32
        %8 = arith.remsi %7, %j : i32
        %9 = arith.remsi %8, %j : i32
        %10 = arith.remsi %9, %j : i32
        %11 = arith.remsi %10, %j : i32
        %12 = arith.remsi %11, %j : i32
        %r = arith.cmpi slt, %12, %j : i32
        attn.yield %r : i1
      } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
