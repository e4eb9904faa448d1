// attn-lower-to-nvvm in a cluster: each CTA copies its share of a tile to both; the first takes the items and sends them.
// RUN: attn-opt %s --attn-lower-to-nvvm | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 128, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 64, work = dynamic, cluster = 2>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
ws.kernel @cluster machine "sm_90a" args ["q", "k", "v", "lse" write] problem #p config #c schedule #s smem 65536 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
  ws.channel @work [tensor<4xi32>] depth 1 at 60000
  ws.channel @k [tensor<64x128xbf16>] depth 1 cluster at 0
  ws.channel @v [tensor<64x64xbf16>] depth 1 cluster at 16384
  ws.mailbox @mailbox at 65440
  ws.role @load warps 1 regs 40 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    ws.work_loop extents(%n, %one, %one) {
      %w = ws.share_work through @mailbox {
        %item = ws.take_item extents(%n, %one, %one)
        ws.yield %item : !tile.work
      }
      %s = ws.slot_at %zero : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %block, %head, %batch = tile.work_coords %w
      %full = ws.smem %n : !llvm.ptr<3>
      %ks = ws.slot_at %zero : <@k, tensor<64x128xbf16>>
      ws.copy %k at(%batch, %head, %block) #bshd shared to %ks barrier %full : tensor<?x?x?x128xbf16>, <@k, tensor<64x128xbf16>>, !llvm.ptr<3>
      %vs = ws.slot_at %zero : <@v, tensor<64x64xbf16>>
      ws.copy %v at(%batch, %head, %block) #bshd shared to %vs barrier %full : tensor<?x?x?x64xbf16>, <@v, tensor<64x64xbf16>>, !llvm.ptr<3>
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %row = arith.constant dense<0.0> : vector<2xf32>
    tile.store_row %row, %lse at(%me, %me, %me) : vector<2xf32>, tensor<?x?x?xf32>
  }
}

// The plan: boxes of half of K's two panels and of half of V's rows; whole clusters, as many as fit.
// CHECK: launch.kernel @cluster grid mul(min(mul(7, mul(1, 1)), max(div(sm_count, 2), 1)), 2) block {{[0-9]+}} cluster 2 shared 65536
// CHECK: #launch.tensor_map<"k" span b128 promotion b256 dims [<size 64 box 64>, <size k_d1 stride mul(k.stride.1, 2) box 64>, <size 2 stride 128 box 1>,
// CHECK-NEXT: #launch.tensor_map<"v" span b128 promotion b256 dims [<size 64 box 64>, <size v_d1 stride mul(v.stride.1, 2) box 32>, <size 1 stride 128 box 1>,
// CHECK: gpu.module @cluster
// CHECK: llvm.func @cluster
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: scf.while
// The first CTA sends its item to the other's mailbox once the item before has
// been read there.
// CHECK: %[[RANK:.*]] = nvx.cluster_rank
// CHECK-NEXT: %{{.*}} = arith.constant 0 : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]],
// CHECK: %[[ITEM:.*]] = scf.if %[[FIRST]] -> (vector<4xi32>) {
// CHECK:   nvvm.read.ptx.sreg.nclusterid.x
// CHECK:   nvx.mbarrier_wait
// CHECK:   llvm.store %{{.*}}, %[[OWN:.*]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK:   nvvm.fence.proxy
// CHECK:   nvvm.cp.async.bulk.shared.cluster.shared.cta %{{.*}}, %[[OWN]],
// CHECK:   nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
// CHECK:   scf.yield
// CHECK: } else {
// CHECK:   nvvm.mbarrier.arrive.expect_tx
// CHECK:   nvx.mbarrier_wait
// CHECK:   %[[GOT:.*]] = llvm.load
// CHECK:   nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<7>
// CHECK:   scf.yield %[[GOT]]
// CHECK: }
// The row block is twice that of the item, plus the CTA's number.
// CHECK: %[[PAIR:.*]] = vector.extract %[[ITEM]][0]
// CHECK: %[[TWICE:.*]] = arith.muli %[[PAIR]],
// CHECK: %[[RANK:.*]] = nvx.cluster_rank
// CHECK-NEXT: %[[BLOCK:.*]] = arith.addi %[[TWICE]], %[[RANK]]
// K: one panel, of the CTA's number. V: 32 rows.
// CHECK: %[[MASK:.*]] = arith.constant 3 : i16
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %[[MASK]]
// CHECK: %[[ROWS:.*]] = arith.constant 32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask =
// The first CTA alone asks the counter.
// CHECK: %[[RANK:.*]] = nvx.cluster_rank
// CHECK: scf.if
// CHECK: llvm.atomicrmw uinc_wrap
// No CTA leaves before the other's last arrival.
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: llvm.return
