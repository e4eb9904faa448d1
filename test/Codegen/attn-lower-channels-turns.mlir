// attn-lower-channels: where additions to memory take turns, the lanes of a warp meet before one of them signals that all have added.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @turns machine "sm_90a" args ["turns" accumulate, "n"] problem #p config #c schedule #s smem 16384 {
^bb0(%turns: tensor<?x?x?xi32>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 0
  ws.edge @turn credits 0
  ws.edge @added credits 0
  // CHECK: ws.role @turns
  ws.role @turns warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %yes = arith.constant true
    // CHECK: tile.turn_wait
    // CHECK-NOT: bar.warp.sync
    // CHECK: nvvm.mbarrier.arrive
    // CHECK: nvx.mbarrier_wait
    // CHECK: tile.turn_pass
    tile.turn_wait %turns at(%me, %me, %me) until %me if %yes : tensor<?x?x?xi32>
    ws.signal @turn
    ws.wait_edge @added
    tile.turn_pass %turns at(%me, %me, %me) to %me : tensor<?x?x?xi32>
  }
  // CHECK: ws.role @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // CHECK: nvx.mbarrier_wait
    // CHECK: nvvm.bar.warp.sync
    // CHECK: scf.if
    // CHECK-NEXT: nvvm.mbarrier.arrive
    ws.wait_edge @turn
    ws.signal @added
    %v = arith.constant dense<0> : vector<4xi32>
    ws.put %v in @h[%me] : vector<4xi32>
  }
}
