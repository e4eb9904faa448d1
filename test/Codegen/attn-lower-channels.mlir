// attn-lower-channels: barriers, parities, bytes and arrivals of a channel, an edge, a turn, a rendezvous and a store.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s
// RUN: attn-opt %s --attn-lower-channels --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] lower-channels | Category:attn | {{.*}}5 barriers in memory, {{[0-9]+}} named

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channels machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.edge @e credits 1
  ws.turn @t ring @wg
  ws.rendezvous @r ring @wg
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.wait_edge @e
    %s = ws.acquire : <@k, tensor<128x64xbf16>>
    ws.copy %q at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<4xi32>
    %k = ws.wait : <@k, tensor<128x64xbf16>>
    ws.take @t[%me]
    ws.give @t[%me]
    ws.release %k : <@k, tensor<128x64xbf16>>
    ws.signal @e
    ws.sync @r
    ws.put %v in @h[%me] : vector<4xi32>
    ws.store @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    ws.await_store
  }
}

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: ws.kernel @channels machine "sm_90a" args ["q", "o" write, "n"]
// CHECK: ^bb0(%[[ARG0:.*]]: tensor<?x?x?x64xbf16>, %[[ARG1:.*]]: tensor<?x?x?x64xbf16>, %[[ARG2:.*]]: f32):
// CHECK-NEXT:   ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
// CHECK-NEXT:   ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
// CHECK-NEXT:   ws.setup {
// CHECK-NEXT:     %[[C49152_I32:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:     %[[V0:.*]] = ws.smem %[[C49152_I32]] : <3>
// CHECK-NEXT:     %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V0]], %[[C1_I32]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     %[[C49160_I32:.*]] = arith.constant 49160 : i32
// CHECK-NEXT:     %[[V1:.*]] = ws.smem %[[C49160_I32]] : <3>
// CHECK-NEXT:     %[[C1_I32_0:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V1]], %[[C1_I32_0]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     %[[C49168_I32:.*]] = arith.constant 49168 : i32
// CHECK-NEXT:     %[[V2:.*]] = ws.smem %[[C49168_I32]] : <3>
// CHECK-NEXT:     %[[C8_I32:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V2]], %[[C8_I32]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     %[[C49176_I32:.*]] = arith.constant 49176 : i32
// CHECK-NEXT:     %[[V3:.*]] = ws.smem %[[C49176_I32]] : <3>
// CHECK-NEXT:     %[[C8_I32_1:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V3]], %[[C8_I32_1]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     %[[C49184_I32:.*]] = arith.constant 49184 : i32
// CHECK-NEXT:     %[[V4:.*]] = ws.smem %[[C49184_I32]] : <3>
// CHECK-NEXT:     %[[C8_I32_2:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V4]], %[[C8_I32_2]] : !llvm.ptr<3>, i32
// CHECK-NEXT:   }
// CHECK-NEXT:   ws.role @load warps 1 regs 24 replicas 1 {
// CHECK-NEXT:   ^bb0(%[[ARG3:.*]]: i32):
// CHECK-NEXT:     %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V0:.*]] = llvm.alloca %[[C1_I32]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     %[[V1:.*]] = llvm.alloca %[[C1_I32]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32]], %[[V0]] : i32, !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32]], %[[V1]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[C1_I32_0:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C0_I32_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V2:.*]] = llvm.alloca %[[C1_I32_0]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     %[[V3:.*]] = llvm.alloca %[[C1_I32_0]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32_1]], %[[V2]] : i32, !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32_1]], %[[V3]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[V4:.*]] = llvm.load %[[V3]] : !llvm.ptr -> i32
// CHECK-NEXT:     %[[C0_I32_2:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[C1_I32_3:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V5:.*]] = arith.xori %[[V4]], %[[C1_I32_3]] : i32
// CHECK-NEXT:     %[[C49184_I32:.*]] = arith.constant 49184 : i32
// CHECK-NEXT:     %[[V6:.*]] = ws.smem %[[C49184_I32]] : <3>
// CHECK-NEXT:     nvx.mbarrier_wait %[[V6]], %[[V5]] : !llvm.ptr<3>
// CHECK-NEXT:     %[[C1_I32_4:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V7:.*]] = arith.xori %[[V4]], %[[C1_I32_4]] : i32
// CHECK-NEXT:     llvm.store %[[V7]], %[[V3]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[V8:.*]] = llvm.load %[[V1]] : !llvm.ptr -> i32
// CHECK-NEXT:     %[[V9:.*]] = llvm.load %[[V0]] : !llvm.ptr -> i32
// CHECK-NEXT:     %[[C1_I32_5:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V10:.*]] = arith.xori %[[V8]], %[[C1_I32_5]] : i32
// CHECK-NEXT:     %[[C49168_I32:.*]] = arith.constant 49168 : i32
// CHECK-NEXT:     %[[C8_I32:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     %[[V11:.*]] = arith.muli %[[V9]], %[[C8_I32]] : i32
// CHECK-NEXT:     %[[V12:.*]] = arith.addi %[[C49168_I32]], %[[V11]] : i32
// CHECK-NEXT:     %[[V13:.*]] = ws.smem %[[V12]] : <3>
// CHECK-NEXT:     nvx.mbarrier_wait %[[V13]], %[[V10]] : !llvm.ptr<3>
// CHECK-NEXT:     %[[C16384_I32:.*]] = arith.constant 16384 : i32
// CHECK-NEXT:     %[[V14:.*]] = arith.muli %[[V9]], %[[C16384_I32]] : i32
// CHECK-NEXT:     %[[C0_I32_6:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V15:.*]] = arith.addi %[[V14]], %[[C0_I32_6]] : i32
// CHECK-NEXT:     %[[V16:.*]] = ws.slot_at %[[V15]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:     %[[C49152_I32:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:     %[[C8_I32_7:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     %[[V17:.*]] = arith.muli %[[V9]], %[[C8_I32_7]] : i32
// CHECK-NEXT:     %[[V18:.*]] = arith.addi %[[C49152_I32]], %[[V17]] : i32
// CHECK-NEXT:     %[[V19:.*]] = ws.smem %[[V18]] : <3>
// CHECK-NEXT:     %[[C1_I32_8:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V20:.*]] = arith.addi %[[V9]], %[[C1_I32_8]] : i32
// CHECK-NEXT:     %[[C2_I32:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[V21:.*]] = arith.cmpi eq, %[[V20]], %[[C2_I32]] : i32
// CHECK-NEXT:     %[[C0_I32_9:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V22:.*]] = arith.select %[[V21]], %[[C0_I32_9]], %[[V20]] : i32
// CHECK-NEXT:     %[[V23:.*]] = arith.extui %[[V21]] : i1 to i32
// CHECK-NEXT:     %[[V24:.*]] = arith.xori %[[V8]], %[[V23]] : i32
// CHECK-NEXT:     llvm.store %[[V22]], %[[V0]] : i32, !llvm.ptr
// CHECK-NEXT:     llvm.store %[[V24]], %[[V1]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[C16384_I32_10:.*]] = arith.constant 16384 : i32
// CHECK-NEXT:     nvvm.mbarrier.arrive.expect_tx %[[V19]], %[[C16384_I32_10]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     ws.copy %[[ARG0]] at(%[[ARG3]], %[[ARG3]], %[[ARG3]]) #[[$MAP]] to %[[V16]] barrier %[[V19]] : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
// CHECK-NEXT:   }
// CHECK-NEXT:   ws.role @wg warps 4 regs 240 replicas 2 {
// CHECK-NEXT:   ^bb0(%[[ARG3:.*]]: i32):
// CHECK-NEXT:     %[[C1_I32:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V0:.*]] = arith.addi %[[ARG3]], %[[C1_I32]] : i32
// CHECK-NEXT:     %[[C2_I32:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[V1:.*]] = arith.cmpi eq, %[[V0]], %[[C2_I32]] : i32
// CHECK-NEXT:     %[[C0_I32:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V2:.*]] = arith.select %[[V1]], %[[C0_I32]], %[[V0]] : i32
// CHECK-NEXT:     %[[C3_I32:.*]] = arith.constant 3 : i32
// CHECK-NEXT:     %[[V3:.*]] = arith.addi %[[V2]], %[[C3_I32]] : i32
// CHECK-NEXT:     %[[C1_I32_0:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[C0_I32_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V4:.*]] = llvm.alloca %[[C1_I32_0]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     %[[V5:.*]] = llvm.alloca %[[C1_I32_0]] x i32 : (i32) -> !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32_1]], %[[V4]] : i32, !llvm.ptr
// CHECK-NEXT:     llvm.store %[[C0_I32_1]], %[[V5]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[C0_I32_2:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V6:.*]] = arith.cmpi eq, %[[ARG3]], %[[C0_I32_2]] : i32
// CHECK-NEXT:     scf.if %[[V6]] {
// CHECK-NEXT:       %[[C3_I32_20:.*]] = arith.constant 3 : i32
// CHECK-NEXT:       %[[C256_I32_21:.*]] = arith.constant 256 : i32
// CHECK-NEXT:       nvvm.barrier.arrive id = %[[C3_I32_20]] number_of_threads = %[[C256_I32_21]]
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[CST:.*]] = arith.constant dense<0> : vector<4xi32>
// CHECK-NEXT:     %[[V7:.*]] = llvm.load %[[V5]] : !llvm.ptr -> i32
// CHECK-NEXT:     %[[V8:.*]] = llvm.load %[[V4]] : !llvm.ptr -> i32
// CHECK-NEXT:     %[[C49152_I32:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:     %[[C8_I32:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     %[[V9:.*]] = arith.muli %[[V8]], %[[C8_I32]] : i32
// CHECK-NEXT:     %[[V10:.*]] = arith.addi %[[C49152_I32]], %[[V9]] : i32
// CHECK-NEXT:     %[[V11:.*]] = ws.smem %[[V10]] : <3>
// CHECK-NEXT:     nvx.mbarrier_wait %[[V11]], %[[V7]] : !llvm.ptr<3>
// CHECK-NEXT:     %[[C16384_I32:.*]] = arith.constant 16384 : i32
// CHECK-NEXT:     %[[V12:.*]] = arith.muli %[[V8]], %[[C16384_I32]] : i32
// CHECK-NEXT:     %[[C0_I32_3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V13:.*]] = arith.addi %[[V12]], %[[C0_I32_3]] : i32
// CHECK-NEXT:     %[[V14:.*]] = ws.slot_at %[[V13]] : <@k, tensor<128x64xbf16>>
// CHECK-NEXT:     %[[C49168_I32:.*]] = arith.constant 49168 : i32
// CHECK-NEXT:     %[[C8_I32_4:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     %[[V15:.*]] = arith.muli %[[V8]], %[[C8_I32_4]] : i32
// CHECK-NEXT:     %[[V16:.*]] = arith.addi %[[C49168_I32]], %[[V15]] : i32
// CHECK-NEXT:     %[[V17:.*]] = ws.smem %[[V16]] : <3>
// CHECK-NEXT:     %[[C1_I32_5:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V18:.*]] = arith.addi %[[V8]], %[[C1_I32_5]] : i32
// CHECK-NEXT:     %[[C2_I32_6:.*]] = arith.constant 2 : i32
// CHECK-NEXT:     %[[V19:.*]] = arith.cmpi eq, %[[V18]], %[[C2_I32_6]] : i32
// CHECK-NEXT:     %[[C0_I32_7:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V20:.*]] = arith.select %[[V19]], %[[C0_I32_7]], %[[V18]] : i32
// CHECK-NEXT:     %[[V21:.*]] = arith.extui %[[V19]] : i1 to i32
// CHECK-NEXT:     %[[V22:.*]] = arith.xori %[[V7]], %[[V21]] : i32
// CHECK-NEXT:     llvm.store %[[V20]], %[[V4]] : i32, !llvm.ptr
// CHECK-NEXT:     llvm.store %[[V22]], %[[V5]] : i32, !llvm.ptr
// CHECK-NEXT:     %[[C3_I32_8:.*]] = arith.constant 3 : i32
// CHECK-NEXT:     %[[V23:.*]] = arith.addi %[[ARG3]], %[[C3_I32_8]] : i32
// CHECK-NEXT:     %[[C256_I32:.*]] = arith.constant 256 : i32
// CHECK-NEXT:     nvvm.barrier id = %[[V23]] number_of_threads = %[[C256_I32]]
// CHECK-NEXT:     %[[C256_I32_9:.*]] = arith.constant 256 : i32
// CHECK-NEXT:     nvvm.barrier.arrive id = %[[V3]] number_of_threads = %[[C256_I32_9]]
// CHECK-NEXT:     %[[V24:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C31_I32:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V25:.*]] = arith.andi %[[V24]], %[[C31_I32]] : i32
// CHECK-NEXT:     %[[C0_I32_10:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V26:.*]] = arith.cmpi eq, %[[V25]], %[[C0_I32_10]] : i32
// CHECK-NEXT:     scf.if %[[V26]] {
// CHECK-NEXT:       nvvm.mbarrier.arrive %[[V17]] : !llvm.ptr<3>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[C49184_I32:.*]] = arith.constant 49184 : i32
// CHECK-NEXT:     %[[V27:.*]] = ws.smem %[[C49184_I32]] : <3>
// CHECK-NEXT:     %[[V28:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C31_I32_11:.*]] = arith.constant 31 : i32
// CHECK-NEXT:     %[[V29:.*]] = arith.andi %[[V28]], %[[C31_I32_11]] : i32
// CHECK-NEXT:     %[[C0_I32_12:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V30:.*]] = arith.cmpi eq, %[[V29]], %[[C0_I32_12]] : i32
// CHECK-NEXT:     scf.if %[[V30]] {
// CHECK-NEXT:       nvvm.mbarrier.arrive %[[V27]] : !llvm.ptr<3>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[C5_I32:.*]] = arith.constant 5 : i32
// CHECK-NEXT:     %[[C256_I32_13:.*]] = arith.constant 256 : i32
// CHECK-NEXT:     nvvm.barrier id = %[[C5_I32]] number_of_threads = %[[C256_I32_13]]
// CHECK-NEXT:     ws.put %[[CST]] in @h[%[[ARG3]]] : vector<4xi32>
// CHECK-NEXT:     nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:     %[[C1_I32_14:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V31:.*]] = arith.addi %[[ARG3]], %[[C1_I32_14]] : i32
// CHECK-NEXT:     %[[C128_I32:.*]] = arith.constant 128 : i32
// CHECK-NEXT:     nvvm.barrier id = %[[V31]] number_of_threads = %[[C128_I32]]
// CHECK-NEXT:     %[[V32:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C127_I32:.*]] = arith.constant 127 : i32
// CHECK-NEXT:     %[[V33:.*]] = arith.andi %[[V32]], %[[C127_I32]] : i32
// CHECK-NEXT:     %[[C0_I32_15:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V34:.*]] = arith.cmpi eq, %[[V33]], %[[C0_I32_15]] : i32
// CHECK-NEXT:     scf.if %[[V34]] {
// CHECK-NEXT:       ws.store @h[%[[ARG3]]], %[[ARG1]] at(%[[ARG3]], %[[ARG3]], %[[ARG3]]) #[[$MAP]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[V35:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %[[C127_I32_16:.*]] = arith.constant 127 : i32
// CHECK-NEXT:     %[[V36:.*]] = arith.andi %[[V35]], %[[C127_I32_16]] : i32
// CHECK-NEXT:     %[[C0_I32_17:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V37:.*]] = arith.cmpi eq, %[[V36]], %[[C0_I32_17]] : i32
// CHECK-NEXT:     scf.if %[[V37]] {
// CHECK-NEXT:       nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[C1_I32_18:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     %[[V38:.*]] = arith.addi %[[ARG3]], %[[C1_I32_18]] : i32
// CHECK-NEXT:     %[[C128_I32_19:.*]] = arith.constant 128 : i32
// CHECK-NEXT:     nvvm.barrier id = %[[V38]] number_of_threads = %[[C128_I32_19]]
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Work items: one thread fills a slot, one arrival a warp gives it back.
// CHECK-LABEL: ws.kernel @work_items
// CHECK: ws.setup {
// CHECK: %[[FULL:.*]] = ws.smem
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[FULL]], %[[ONE]]
// CHECK: %[[FREE:.*]] = ws.smem
// CHECK-NEXT: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK-NEXT: nvvm.mbarrier.init %[[FREE]], %[[EIGHT]]
// CHECK: ws.role @load
// CHECK: tile.next_work
// CHECK: nvx.mbarrier_wait
// CHECK: ws.put_work %{{.*}} to %{{.*}} : <@work, tensor<4xi32>>
// CHECK-NEXT: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT: ws.end_unless_work
// CHECK-NEXT: ws.fetch_work
// CHECK: ws.role @wg
// CHECK: nvx.mbarrier_wait
// CHECK: ws.get_work
// CHECK: scf.if
// CHECK-NEXT: nvvm.mbarrier.arrive
// CHECK: ws.end_unless_work
ws.kernel @work_items machine "sm_90a" args ["o" write, "n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 8224 {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @work [tensor<4xi32>] depth 1 at 8192
  ws.hold @h tensor<64x64xbf16> pieces 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %v = arith.constant dense<0> : vector<4xi32>
      ws.put %v in @h[%me] : vector<4xi32>
    }
  }
}
