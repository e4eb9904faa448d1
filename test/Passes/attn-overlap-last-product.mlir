// attn-overlap-last-product: ops after the loop that do not read its last product run while that is in flight, and
// where the loop runs for no block. Ops that read it or have an effect stay. What only moved ops read is no result any more.
// RUN: attn-opt %s --attn-pipeline --attn-start-fresh --attn-overlap-last-product | FileCheck %s
// RUN: not attn-opt %s --attn-overlap-last-product -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: 'ws.for' op attn-overlap-last-product: expected the loop to be expanded

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
!q = !ws.slot<@q, tensor<64x64xbf16>>
!acc = tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>

ws.kernel @last machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 1
  // CHECK-LABEL: ws.role @wg
  // CHECK: %[[L:.*]]:3 = scf.if
  // CHECK: scf.for
  // CHECK: scf.yield
  // CHECK: %[[M:.*]], %[[T:.*]] = ws.mma
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[CARRIED:.*]], %[[ONE]] : f32
  // CHECK-NEXT: %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[SUM]] : f32
  // CHECK-NEXT: %[[AGAIN:.*]] = arith.addf %[[CARRIED]], %[[ONE]] : f32
  // CHECK-NEXT: %[[DONE:.*]] = ws.await %[[M]], %[[T]]
  // CHECK-NEXT: scf.yield %[[DONE]], %[[INVERSE]], %[[AGAIN]]
  // CHECK: } else {
  // CHECK: arith.divf
  // CHECK: scf.yield
  // CHECK-NOT: arith.divf
  // CHECK-NOT: arith.addf
  // CHECK: arith.negf %[[L]]#0
  // A row becomes a tile where it is used.
  // CHECK-NEXT: tensor.splat %[[L]]#1
  // CHECK: llvm.store %[[L]]#2
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant dense<0.0> : !acc
    %none = arith.constant 0.0 : f32
    %slot = ws.wait : <@q, tensor<64x64xbf16>>
    %o, %l = ws.for ranges <down [full]> bounds(%n, %n) init(%zero, %none) : (!acc, f32) -> (!acc, f32) {
    ^bb0(%j: i32, %product: !acc, %sum: f32):
      %more = ws.entry @add issue 0 shift 0 -> f32 {
        %a = arith.mulf %sum, %sum : f32
        ws.yield %a : f32
      }
      %next = ws.entry @mul issue 1 shift 1 -> !acc {
        %m, %t = ws.mma %slot, %slot acc(%product : !acc) transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %m : !acc
      }
      ws.yield %next, %more : !acc, f32
    }
    ws.release %slot : <@q, tensor<64x64xbf16>>
    %one = arith.constant 1.0 : f32
    %total = arith.addf %l, %one : f32
    %inverse = arith.divf %one, %total : f32
    %negated = arith.negf %o : !acc
    %all = tensor.splat %inverse : !acc
    %scaled = arith.mulf %negated, %all : !acc
    %again = arith.addf %l, %one : f32
    %kept = llvm.alloca %n x f32 : (i32) -> !llvm.ptr
    llvm.store %again, %kept : f32, !llvm.ptr
  }
}
