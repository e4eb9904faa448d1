// attn-configure: a config from the table, from a file, or the op's own.
// RUN: attn-opt %s --attn-configure | FileCheck %s
// RUN: attn-opt %s --attn-configure=target=sm_90a | FileCheck %s
// RUN: attn-opt %s --attn-configure --attn-configure | FileCheck %s
// RUN: sed '/^\/\/ A head dim runs/,$d' %s > %t.mlir
// RUN: attn-opt %t.mlir --attn-configure=schedule-file=%attn_root/passes/schedule/data/schedules/sm_90a/fwd_d96.mlir | FileCheck %s
// RUN: attn-opt %s --attn-configure --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

!t = tensor<?x?x?x128xbf16>
!s = tensor<?x?x?x96xbf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @from_table(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x?x96xbf16>, %[[K:.*]]: tensor<?x?x?x96xbf16>, %[[V:.*]]: tensor<?x?x?x96xbf16>, %[[SCALE:.*]]: f32)
// CHECK-NEXT: attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]]) mask(causal_bottom_right) layout(bshd) config <tile_m = [[M:[0-9]+]], tile_n = [[N:[0-9]+]], work = [[WORK:.*]]> : (
// REMARK: remark: [Passed] configure | Category:attn | Config="#attn.config<tile_m = {{[0-9]+}}, tile_n = {{[0-9]+}}, work = {{.*}}>", From="entry '@fwd_d96_none_causal' of 'schedules/sm_90a/fwd_d96_none_causal.mlir'"
func.func @from_table(%q: !s, %k: !s, %v: !s, %scale: f32) -> (!s, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      : (!s, !s, !s) -> (!s, !l)
  return %o, %lse : !s, !l
}

// A config that is there is kept.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: attn.attention {{.*}} layout(bshd) config <tile_m = 64, tile_n = 48, work = dynamic, rescale_threshold = 4> : (
// REMARK: remark: [Passed] configure | Category:attn | Config="#attn.config<tile_m = 64, tile_n = 48, work = dynamic, rescale_threshold = 4>", From="the op"
func.func @kept(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      config <tile_m = 64, tile_n = 48, work = dynamic, rescale_threshold = 4> : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// CHECK-LABEL: func.func @no_attention
// CHECK-NEXT: return
func.func @no_attention() {
  return
}

// A head dim runs on the entry with the fewest columns that hold it.
// RUN: attn-opt %s --attn-configure | FileCheck %s --check-prefix=COLUMNS
// RUN: attn-opt %s --attn-configure --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FROM
// COLUMNS-LABEL: func.func @d88
// COLUMNS-NEXT: attn.attention {{.*}} config <tile_m = 192, tile_n = 80, {{.*}}, tile_d = 96, tile_dv = 96> : (
// FROM: Config={{.*}}tile_d = 96, tile_dv = 96>", From="entry '@fwd_d96_none_causal' of
func.func @d88(%q: tensor<?x?x?x88xbf16>, %scale: f32) -> (tensor<?x?x?x88xbf16>, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x88xbf16>, tensor<?x?x?x88xbf16>, tensor<?x?x?x88xbf16>) -> (tensor<?x?x?x88xbf16>, !l)
  return %o, %lse : tensor<?x?x?x88xbf16>, !l
}

// Head dims 184 and 72: the entry of 192 and 128 columns has fewer than the one
// of 192 and 192.
// COLUMNS-LABEL: func.func @d184_dv72
// COLUMNS-NEXT: attn.attention {{.*}}, tile_d = 192, tile_dv = 128> {{.*}}: (
// FROM: From="entry '@fwd_d192_dv128_none_512' of
func.func @d184_dv72(%q: tensor<?x?x?x184xf16>, %v: tensor<?x?x?x72xf16>, %scale: f32) -> (tensor<?x?x?x72xf16>, !l) {
  %o, %lse = attn.attention %q, %q, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x184xf16>, tensor<?x?x?x184xf16>, tensor<?x?x?x72xf16>) -> (tensor<?x?x?x72xf16>, !l)
  return %o, %lse : tensor<?x?x?x72xf16>, !l
}

// The entry has the head dim itself, so the config names no columns.
// COLUMNS-LABEL: func.func @d256
// COLUMNS-NOT: tile_d
// COLUMNS: return
func.func @d256(%q: tensor<?x?x?x256xbf16>, %scale: f32) -> (tensor<?x?x?x256xbf16>, !l) {
  %o, %lse = attn.attention %q, %q, %q scale(%scale) mask(none) layout(bshd)
      : (tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, !l)
  return %o, %lse : tensor<?x?x?x256xbf16>, !l
}
