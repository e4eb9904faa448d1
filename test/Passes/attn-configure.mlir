// attn-configure: a config from the table, from a file, or the op's own.
// RUN: attn-opt %s --attn-configure | FileCheck %s
// RUN: attn-opt %s --attn-configure=target=sm_90a | FileCheck %s
// RUN: attn-opt %s --attn-configure --attn-configure | FileCheck %s
// RUN: attn-opt %s --attn-configure=schedule-file=%attn_root/codegen/data/schedules/fwd_d128.mlir | FileCheck %s
// RUN: attn-opt %s --attn-configure --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @from_table(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x?x128xbf16>, %[[K:.*]]: tensor<?x?x?x128xbf16>, %[[V:.*]]: tensor<?x?x?x128xbf16>, %[[SCALE:.*]]: f32)
// CHECK-NEXT: attn.attention %[[Q]], %[[K]], %[[V]] scale(%[[SCALE]]) mask(causal_bottom_right) layout(bshd) config <tile_m = [[M:[0-9]+]], tile_n = [[N:[0-9]+]], work = [[WORK:.*]]> : (
// REMARK: remark: [Passed] configure | Category:attn | Config="#attn.config<tile_m = {{[0-9]+}}, tile_n = {{[0-9]+}}, work = {{.*}}>", From="entry '@fwd_d128' of 'schedules/fwd_d128.mlir'"
func.func @from_table(%q: !t, %k: !t, %v: !t, %scale: f32) -> (!t, !l) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
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
