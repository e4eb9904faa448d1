// attn-pipeline: a slot from outside the loop is released before an epilogue
// that does not read it, and in the branch for no blocks. It is kept if the
// epilogue or the code after the loop reads it.
// RUN: attn-opt %s --attn-pipeline | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
!q = !ws.slot<@q, tensor<64x64xbf16>>
!acc = tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>

ws.kernel @early machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 1
  // CHECK-LABEL: ws.role @steady
  // CHECK: %[[Q:.*]] = ws.wait : <@q,
  // CHECK: scf.if
  // CHECK: scf.for
  // CHECK: ws.mma %[[Q]]
  // CHECK: }
  // CHECK-NEXT: ws.release %[[Q]]
  // CHECK: arith.addf
  // CHECK: } else {
  // CHECK-NEXT: ws.release %[[Q]]
  // CHECK: }
  // CHECK-NOT: ws.release
  ws.role @steady warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant dense<0.0> : !acc
    %slot = ws.wait : <@q, tensor<64x64xbf16>>
    %r = ws.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!acc) -> !acc {
    ^bb0(%j: i32, %sum: !acc):
      %qk = ws.entry @qk issue 0 shift 0 -> !acc {
        %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %m : !acc
      }
      %next = ws.entry @add issue 1 shift 1 -> !acc {
        %a = arith.addf %sum, %qk : !acc
        ws.yield %a : !acc
      }
      ws.yield %next : !acc
    } drain {
      ws.release %slot : <@q, tensor<64x64xbf16>>
      ws.yield
    } empty {
      ws.release %slot : <@q, tensor<64x64xbf16>>
      ws.yield
    }
  }
  // CHECK-LABEL: ws.role @late
  // CHECK: %[[Q:.*]] = ws.wait : <@q,
  // CHECK-NOT: ws.release
  // CHECK: } else {
  // CHECK-NOT: ws.release
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: ws.release %[[Q]]
  ws.role @late warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant dense<0.0> : !acc
    %slot = ws.wait : <@q, tensor<64x64xbf16>>
    %r = ws.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!acc) -> !acc {
    ^bb0(%j: i32, %sum: !acc):
      %qk = ws.entry @qk issue 0 shift 0 -> !acc {
        %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %m : !acc
      }
      %again = ws.entry @again issue 1 shift 1 -> !acc {
        %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %m : !acc
      }
      %next = ws.entry @add issue 2 shift 1 after [@again] -> !acc {
        %a = arith.addf %sum, %again : !acc
        ws.yield %a : !acc
      }
      ws.yield %next : !acc
    }
    ws.release %slot : <@q, tensor<64x64xbf16>>
  }
  // CHECK-LABEL: ws.role @after
  // CHECK: %[[Q:.*]] = ws.wait : <@q,
  // CHECK-NOT: ws.release
  // CHECK: } else {
  // CHECK-NOT: ws.release
  // CHECK: ws.mma %[[Q]]
  // CHECK-NEXT: ws.await
  // CHECK-NEXT: ws.release %[[Q]]
  // CHECK-NOT: ws.release
  ws.role @after warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant dense<0.0> : !acc
    %slot = ws.wait : <@q, tensor<64x64xbf16>>
    %r = ws.for ranges <down [full]> bounds(%n, %n) init(%zero) : (!acc) -> !acc {
    ^bb0(%j: i32, %sum: !acc):
      %qk = ws.entry @qk issue 0 shift 0 -> !acc {
        %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %m : !acc
      }
      %next = ws.entry @add issue 1 shift 1 -> !acc {
        %a = arith.addf %sum, %qk : !acc
        ws.yield %a : !acc
      }
      ws.yield %next : !acc
    }
    %m, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
    %x = ws.await %m, %t : !acc
    ws.release %slot : <@q, tensor<64x64xbf16>>
  }
}
