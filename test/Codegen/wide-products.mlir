// attn-lower-to-nvvm: a product of 256 columns is two instructions a k step, one of 128 or 144 is one.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 32, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @products machine "sm_90a" args ["q"] problem #p config #c schedule #s smem 131072 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @v256 [tensor<32x256xbf16>] depth 1 at 0
  ws.channel @v128 [tensor<32x128xbf16>] depth 1 at 16384
  ws.channel @k256 [tensor<256x64xbf16>] depth 1 at 32768
  ws.channel @k144 [tensor<144x64xbf16>] depth 1 at 65536
  ws.setup {
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %v256 = ws.slot_at %me : <@v256, tensor<32x256xbf16>>
      %v128 = ws.slot_at %me : <@v128, tensor<32x128xbf16>>
      %k256 = ws.slot_at %me : <@k256, tensor<256x64xbf16>>
      %k144 = ws.slot_at %me : <@k144, tensor<144x64xbf16>>
      %a = arith.constant dense<0> : vector<8xi32>
      // Columns from 128 on are two panels of 32 rows later: 8192 bytes.
      // CHECK: nvx.wgmma {{.*}}b_offsets = array<i32: 0, 128>, b_parts = array<i32: 0, 512>, transpose_b} : vector<128xf32>
      %r0, %t0 = ws.mma %a, %v256 : vector<8xi32>, <@v256, tensor<32x256xbf16>> -> vector<128xf32>
      // CHECK: nvx.wgmma {{.*}}b_offsets = array<i32: 0, 128>, transpose_b} : vector<64xf32>
      %r1, %t1 = ws.mma %a, %v128 : vector<8xi32>, <@v128, tensor<32x128xbf16>> -> vector<64xf32>
      // Rows of B are columns of D: 128 rows of 128 bytes.
      // CHECK: nvx.wgmma {{.*}}b_offsets = array<i32: 0, 2, 4, 6>, b_parts = array<i32: 0, 1024>} : vector<128xf32>
      %r2, %t2 = ws.mma %k256, %k256 transpose_b : !ws.slot<@k256, tensor<256x64xbf16>>, <@k256, tensor<256x64xbf16>> -> vector<128xf32>
      // CHECK: nvx.wgmma {{.*}}b_offsets = array<i32: 0, 2, 4, 6>} : vector<72xf32>
      %r3, %t3 = ws.mma %k256, %k144 transpose_b : !ws.slot<@k256, tensor<256x64xbf16>>, <@k144, tensor<144x64xbf16>> -> vector<72xf32>
      %d0 = ws.await %r0, %t0 : vector<128xf32>
      %d1 = ws.await %r1, %t1 : vector<64xf32>
      %d2 = ws.await %r2, %t2 : vector<128xf32>
      %d3 = ws.await %r3, %t3 : vector<72xf32>
    }
  }
}
