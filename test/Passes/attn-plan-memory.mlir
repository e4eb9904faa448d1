// attn-plan-memory: places follow one another; a place over another begins where its host does.
// RUN: attn-opt %s --attn-plan-memory | FileCheck %s
// RUN: attn-opt %s --attn-plan-memory --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// A second run of the pass changes no offset.
// RUN: attn-opt %s --attn-plan-memory --attn-plan-memory | FileCheck %s

// REMARK: [Passed] plan-memory | Category:attn | {{.*}}65584 bytes of shared memory

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// CHECK-LABEL: ws.kernel @places
// CHECK: smem 65536 {
// CHECK-NEXT: ws.channel @q [tensor<128x64xbf16>] depth 1 at 0
// CHECK-NEXT: ws.channel @k [tensor<128x64xbf16>] depth 2 at 16384
// CHECK-NEXT: ws.hold @over {{.*}} pieces 2 over @q at 0
// CHECK-NEXT: ws.hold @beside {{.*}} pieces 2 at 49152
// CHECK-NEXT: ws.turn @tc ring @wg
ws.kernel @places machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.channel @q [tensor<128x64xbf16>] depth 1
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.hold @over tensor<64x64xbf16> pieces 2 over @q
  ws.hold @beside tensor<64x64xbf16> pieces 2
  ws.turn @tc ring @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// Work items lie behind the tiles, which begin at multiples of 1024.
// CHECK-LABEL: ws.kernel @work_items
// CHECK: smem 32816 {
// CHECK: ws.channel @work [tensor<4xi32>] depth 3 at 32768
// CHECK: ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
ws.kernel @work_items machine "sm_90a" args [] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
  ws.channel @work [tensor<4xi32>] depth 3
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}
