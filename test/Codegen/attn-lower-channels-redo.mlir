// attn-lower-channels where items are run again: the verdict's barrier expects an arrival of each warp that may
// reject, made the first time alone; all roles wait for it and read the word behind it; a role that stores
// awaits its first store before the second.
// RUN: attn-opt %s --attn-lower-channels | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @redo machine "sm_90a" args ["q", "lse", "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>, %n: i32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = tile.next_work extents(%n, %n, %n)
      %r = tile.is_redo %w
      tile.reject %w if %r
      ws.store @h[%me], %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    }
  }
}

// CHECK: #[[$MAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// CHECK-LABEL: ws.kernel @redo
// CHECK:   ws.setup {
// CHECK-NEXT:     %[[V0:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:     %[[V1:.*]] = ws.smem %[[V0]] : <3>
// CHECK-NEXT:     %[[V2:.*]] = arith.constant 8 : i32
// CHECK-NEXT:     nvvm.mbarrier.init %[[V1]], %[[V2]] : !llvm.ptr<3>, i32
// CHECK-NEXT:     %[[V3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[V4:.*]] = arith.constant 49160 : i32
// CHECK-NEXT:     %[[V5:.*]] = ws.smem %[[V4]] : <3>
// CHECK-NEXT:     llvm.store %[[V3]], %[[V5]] : i32, !llvm.ptr<3>
// CHECK-NEXT:   }
// CHECK-NEXT:   ws.role @load warps 1 regs 24 replicas 1 {
// CHECK-NEXT:   ^bb0(%[[V6:.*]]: i32):
// CHECK-NEXT:     ws.work_loop extents(%[[V7:.*]], %[[V7]], %[[V7]]) redo {
// CHECK-NEXT:       %[[V8:.*]] = tile.next_work extents(%[[V7]], %[[V7]], %[[V7]])
// CHECK-NEXT:       %[[V9:.*]] = tile.is_redo %[[V8]]
// CHECK-NEXT:       %[[V10:.*]] = scf.if %[[V9]] -> (i1) {
// CHECK-NEXT:         %[[V11:.*]] = arith.constant false
// CHECK-NEXT:         scf.yield %[[V11]] : i1
// CHECK-NEXT:       } else {
// CHECK-NEXT:         %[[V12:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:         %[[V13:.*]] = ws.smem %[[V12]] : <3>
// CHECK-NEXT:         %[[V14:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         nvx.mbarrier_wait %[[V13]], %[[V14]] : !llvm.ptr<3>
// CHECK-NEXT:         %[[V15:.*]] = arith.constant 49160 : i32
// CHECK-NEXT:         %[[V16:.*]] = ws.smem %[[V15]] : <3>
// CHECK-NEXT:         %[[V17:.*]] = llvm.load %[[V16]] : !llvm.ptr<3> -> i32
// CHECK-NEXT:         %[[V18:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V19:.*]] = arith.cmpi ne, %[[V17]], %[[V18]] : i32
// CHECK-NEXT:         scf.yield %[[V19]] : i1
// CHECK-NEXT:       }
// CHECK-NEXT:       ws.run_again %[[V10]]
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   ws.role @wg warps 4 regs 240 replicas 2 {
// CHECK-NEXT:   ^bb0(%[[V20:.*]]: i32):
// CHECK-NEXT:     ws.work_loop extents(%[[V7]], %[[V7]], %[[V7]]) redo {
// CHECK-NEXT:       %[[V21:.*]] = tile.next_work extents(%[[V7]], %[[V7]], %[[V7]])
// CHECK-NEXT:       %[[V22:.*]] = tile.is_redo %[[V21]]
// CHECK-NEXT:       %[[V23:.*]] = tile.is_redo %[[V21]]
// CHECK-NEXT:       %[[V24:.*]] = arith.constant true
// CHECK-NEXT:       %[[V25:.*]] = arith.xori %[[V23]], %[[V24]] : i1
// CHECK-NEXT:       %[[V26:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:       %[[V27:.*]] = arith.constant 31 : i32
// CHECK-NEXT:       %[[V28:.*]] = arith.andi %[[V26]], %[[V27]] : i32
// CHECK-NEXT:       %[[V29:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V30:.*]] = arith.cmpi eq, %[[V28]], %[[V29]] : i32
// CHECK-NEXT:       %[[V31:.*]] = arith.andi %[[V25]], %[[V30]] : i1
// CHECK-NEXT:       scf.if %[[V31]] {
// CHECK-NEXT:         scf.if %[[V22]] {
// CHECK-NEXT:           %[[V32:.*]] = arith.constant 49160 : i32
// CHECK-NEXT:           %[[V33:.*]] = ws.smem %[[V32]] : <3>
// CHECK-NEXT:           %[[V34:.*]] = arith.constant 1 : i32
// CHECK-NEXT:           %[[V35:.*]] = llvm.atomicrmw _or %[[V33]], %[[V34]] monotonic : !llvm.ptr<3>, i32
// CHECK-NEXT:         }
// CHECK-NEXT:         %[[V36:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:         %[[V37:.*]] = ws.smem %[[V36]] : <3>
// CHECK-NEXT:         nvvm.mbarrier.arrive %[[V37]] : !llvm.ptr<3>
// CHECK-NEXT:       }
// CHECK-NEXT:       nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:       %[[V38:.*]] = arith.constant 1 : i32
// CHECK-NEXT:       %[[V39:.*]] = arith.addi %[[V20]], %[[V38]] : i32
// CHECK-NEXT:       %[[V40:.*]] = arith.constant 128 : i32
// CHECK-NEXT:       nvvm.barrier id = %[[V39]] number_of_threads = %[[V40]]
// CHECK-NEXT:       %[[V41:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:       %[[V42:.*]] = arith.constant 127 : i32
// CHECK-NEXT:       %[[V43:.*]] = arith.andi %[[V41]], %[[V42]] : i32
// CHECK-NEXT:       %[[V44:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V45:.*]] = arith.cmpi eq, %[[V43]], %[[V44]] : i32
// CHECK-NEXT:       scf.if %[[V45]] {
// CHECK-NEXT:         ws.store @h[%[[V20]]], %[[V46:.*]] at(%[[V7]], %[[V7]], %[[V7]]) #[[$MAP]] : tensor<?x?x?x64xbf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V47:.*]] = tile.is_redo %[[V21]]
// CHECK-NEXT:       %[[V48:.*]] = scf.if %[[V47]] -> (i1) {
// CHECK-NEXT:         %[[V49:.*]] = arith.constant false
// CHECK-NEXT:         scf.yield %[[V49]] : i1
// CHECK-NEXT:       } else {
// CHECK-NEXT:         %[[V50:.*]] = arith.constant 49152 : i32
// CHECK-NEXT:         %[[V51:.*]] = ws.smem %[[V50]] : <3>
// CHECK-NEXT:         %[[V52:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         nvx.mbarrier_wait %[[V51]], %[[V52]] : !llvm.ptr<3>
// CHECK-NEXT:         %[[V53:.*]] = arith.constant 49160 : i32
// CHECK-NEXT:         %[[V54:.*]] = ws.smem %[[V53]] : <3>
// CHECK-NEXT:         %[[V55:.*]] = llvm.load %[[V54]] : !llvm.ptr<3> -> i32
// CHECK-NEXT:         %[[V56:.*]] = arith.constant 0 : i32
// CHECK-NEXT:         %[[V57:.*]] = arith.cmpi ne, %[[V55]], %[[V56]] : i32
// CHECK-NEXT:         scf.yield %[[V57]] : i1
// CHECK-NEXT:       }
// CHECK-NEXT:       %[[V58:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:       %[[V59:.*]] = arith.constant 127 : i32
// CHECK-NEXT:       %[[V60:.*]] = arith.andi %[[V58]], %[[V59]] : i32
// CHECK-NEXT:       %[[V61:.*]] = arith.constant 0 : i32
// CHECK-NEXT:       %[[V62:.*]] = arith.cmpi eq, %[[V60]], %[[V61]] : i32
// CHECK-NEXT:       %[[V63:.*]] = arith.andi %[[V48]], %[[V62]] : i1
// CHECK-NEXT:       scf.if %[[V63]] {
// CHECK-NEXT:         nvvm.cp.async.bulk.wait_group 0
// CHECK-NEXT:       }
// CHECK-NEXT:       ws.run_again %[[V48]]
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
