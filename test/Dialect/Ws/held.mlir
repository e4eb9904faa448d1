// A tile in a hold as operand A, before and after its place is known.
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg[2] warps 4 regs 240 }>
ws.kernel @held machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<32x64xbf16>] depth 1
  ws.channel @k [tensor<128x64xbf16>] depth 1
  ws.hold @p tensor<64x32xbf16> pieces 2
  // CHECK: ws.hold @d tensor<64x32xbf16> pieces 2 depth 2
  ws.hold @d tensor<64x32xbf16> pieces 2 depth 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // CHECK: %[[P:.*]] = ws.held @p[%{{.*}}] : <@p, tensor<64x32xbf16>>
    %p = ws.held @p[%me] : <@p, tensor<64x32xbf16>>
    %v = ws.wait : <@v, tensor<32x64xbf16>>
    // CHECK: ws.mma %[[P]], %{{.*}} : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> tensor<64x64xf32>
    %o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> tensor<64x64xf32>
    %d = ws.await %o, %t : tensor<64x64xf32>
    // CHECK: ws.slot_at %{{.*}} : <@p, tensor<64x32xbf16>>
    %q = ws.slot_at %n : <@p, tensor<64x32xbf16>>
    // CHECK: %[[ALL:.*]] = ws.held @d : <@d, tensor<128x32xbf16>>
    %all = ws.held @d : <@d, tensor<128x32xbf16>>
    // CHECK: ws.mma %[[ALL]], %{{.*}} columns(%{{.*}}) transpose_a : !ws.slot<@d, tensor<128x32xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<32x32xf32>
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    %x, %u = ws.mma %all, %k columns(%me) transpose_a : !ws.slot<@d, tensor<128x32xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<32x32xf32>
    %e = ws.await %x, %u : tensor<32x32xf32>
  }
}
