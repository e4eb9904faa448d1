// `exp2_soft` approximates only the exponentials of the softmax: no exponential
// of a region, even if it asks for an approximation.
// RUN: attn-compile %s --schedule=%attn_root/test/Schedules/exp2_soft_all.mlir --emit=nvvm -o - | FileCheck %s
// RUN: sed 's/%%r = math.exp2 [^ ]*/& fastmath<afn>/' %s > %t.asked.mlir
// RUN: attn-compile %t.asked.mlir --schedule=%attn_root/test/Schedules/exp2_soft_all.mlir --emit=nvvm -o - | FileCheck %s

// CHECK: %[[USER:.*]] = math.exp2 %{{.*}} : vector<[[N:[0-9]+]]xf32>
// CHECK-NOT: math.exp2 {{.*}} : vector<[[N]]xf32>
// CHECK: nvx.exp2_poly %{{.*}} : vector<[[N]]xf32>
func.func @power(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x128xf16>, %v: tensor<?x?x?x128xf16>, %scale: f32)
    -> (tensor<?x?x?x128xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      score_region {
      ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
        %r = math.exp2 %s : f32
        attn.yield %r : f32
      }
      : (tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>) -> (tensor<?x?x?x128xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xf16>, tensor<?x?x?xf32>
}
