// attn-lower-to-nvvm: the coordinates of work items in each order, and how
// items are handed out.
// RUN: attn-opt %s --attn-lower-to-nvvm -split-input-file | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// Row blocks fastest, then heads, then batches.
// CHECK-LABEL: llvm.func @linear
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[BLOCK:.*]] = arith.remui %[[ITEM]], %[[BLOCKS:.*]] : i32
// CHECK-NEXT: %[[PLANE:.*]] = arith.divui %[[ITEM]], %[[BLOCKS]] : i32
// CHECK-NEXT: %[[HEAD:.*]] = arith.remui %[[PLANE]], %[[HEADS:.*]] : i32
// CHECK-NEXT: %[[BATCH:.*]] = arith.divui %[[PLANE]], %[[HEADS]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%{{.*}}, %[[BLOCK]], %{{.*}}, %[[HEAD]], %[[BATCH]]]
ws.kernel @linear machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %b = ws.smem %two : !llvm.ptr<3>
    %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    ws.work_loop extents(%n, %three, %two) {
      %w = tile.next_work extents(%n, %three, %two)
      %block, %head, %batch = tile.work_coords %w
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// The last row block of every plane of a section first; the last section may be narrower.
// CHECK-LABEL: llvm.func @sections
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[PLANES:.*]] = arith.muli %[[HEADS:.*]], %[[BATCHES:.*]] : i32
// CHECK-NEXT: %[[ITEMS:.*]] = arith.muli %[[SECTION:.*]], %[[BLOCKS:.*]] : i32
// CHECK-NEXT: %[[INSIDE:.*]] = arith.remui %[[ITEM]], %[[ITEMS]] : i32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.divui %[[ITEM]], %[[ITEMS]] : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[SECTION]] : i32
// CHECK-NEXT: %[[REST:.*]] = arith.subi %[[PLANES]], %[[FIRST]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.minui %[[SECTION]], %[[REST]] : i32
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[DOWN:.*]] = arith.divui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[BLOCKS]], %[[ONE]] : i32
// CHECK-NEXT: %[[BLOCK:.*]] = arith.subi %[[LAST]], %[[DOWN]] : i32
// CHECK-NEXT: %[[PLANE:.*]] = arith.addi %[[FIRST]], %[[IN]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%{{.*}}, %[[BLOCK]],
ws.kernel @sections machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, section_mib = 16> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %b = ws.smem %two : !llvm.ptr<3>
    %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    ws.work_loop extents(%n, %three, %two) {
      %w = tile.next_work extents(%n, %three, %two) section(%two)
      %block, %head, %batch = tile.work_coords %w
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// Plane by plane, the last row block first; in the last section the last row block of every plane first.
// CHECK-LABEL: llvm.func @last_section
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[PLANES:.*]] = arith.muli %[[HEADS:.*]], %[[BATCHES:.*]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.minui %[[SECTION:.*]], %[[PLANES]] : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[PLANES]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %[[BLOCKS:.*]] : i32
// CHECK-NEXT: %[[OTHERS:.*]] = arith.remui %[[ITEM]], %[[BLOCKS]] : i32
// CHECK-NEXT: %[[PLANE:.*]] = arith.divui %[[ITEM]], %[[BLOCKS]] : i32
// CHECK-NEXT: %[[INSIDE:.*]] = arith.subi %[[ITEM]], %[[BEFORE]] : i32
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[DOWN:.*]] = arith.divui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[IS_LAST:.*]] = arith.cmpi uge, %[[ITEM]], %[[BEFORE]] : i32
// CHECK-NEXT: %[[LAST_PLANE:.*]] = arith.addi %[[FIRST]], %[[IN]] : i32
// CHECK-DAG: %[[ITS_PLANE:.*]] = arith.select %[[IS_LAST]], %[[LAST_PLANE]], %[[PLANE]] : i32
// CHECK-DAG: %[[BLOCKS_BEFORE:.*]] = arith.select %[[IS_LAST]], %[[DOWN]], %[[OTHERS]] : i32
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[BLOCKS]], %[[ONE]] : i32
// CHECK-NEXT: %[[BLOCK:.*]] = arith.subi %[[LAST]], %[[BLOCKS_BEFORE]] : i32
// CHECK: arith.remui %[[ITS_PLANE]], %[[HEADS]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%{{.*}}, %[[BLOCK]],
ws.kernel @last_section machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = grid, order = shortest_last, section_mib = 16> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %b = ws.smem %two : !llvm.ptr<3>
    %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    ws.work_loop extents(%n, %three, %two) {
      %w = tile.next_work extents(%n, %three, %two) section(%two)
      %block, %head, %batch = tile.work_coords %w
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
}

// -----

#p = #attn.problem<kind = bwd_dv, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// A causal mask leaves the first block of keys the most queries: it comes first.
// CHECK-LABEL: llvm.func @sections_of_keys
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[PLANES:.*]] = arith.muli %[[HEADS:.*]], %[[BATCHES:.*]] : i32
// CHECK-NEXT: %[[ITEMS:.*]] = arith.muli %[[SECTION:.*]], %[[BLOCKS:.*]] : i32
// CHECK-NEXT: %[[INSIDE:.*]] = arith.remui %[[ITEM]], %[[ITEMS]] : i32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.divui %[[ITEM]], %[[ITEMS]] : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[SECTION]] : i32
// CHECK-NEXT: %[[REST:.*]] = arith.subi %[[PLANES]], %[[FIRST]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.minui %[[SECTION]], %[[REST]] : i32
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[BLOCK:.*]] = arith.divui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[PLANE:.*]] = arith.addi %[[FIRST]], %[[IN]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%{{.*}}, %[[BLOCK]],
ws.kernel @sections_of_keys machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = grid, order = longest_first, section_mib = 16> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %b = ws.smem %two : !llvm.ptr<3>
    %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    ws.work_loop extents(%n, %three, %two) {
      %w = tile.next_work extents(%n, %three, %two) section(%two)
      %block, %head, %batch = tile.work_coords %w
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
}

// -----

#p = #attn.problem<kind = bwd_keys, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// Blocks of keys in their order; in the last section the same block of every plane.
// CHECK-LABEL: llvm.func @last_section_of_keys
// CHECK: %[[ITEM:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[PLANES:.*]] = arith.muli %[[HEADS:.*]], %[[BATCHES:.*]] : i32
// CHECK-NEXT: %[[WIDTH:.*]] = arith.minui %[[SECTION:.*]], %[[PLANES]] : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[PLANES]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %[[BLOCKS:.*]] : i32
// CHECK-NEXT: %[[OTHERS:.*]] = arith.remui %[[ITEM]], %[[BLOCKS]] : i32
// CHECK-NEXT: %[[PLANE:.*]] = arith.divui %[[ITEM]], %[[BLOCKS]] : i32
// CHECK-NEXT: %[[INSIDE:.*]] = arith.subi %[[ITEM]], %[[BEFORE]] : i32
// CHECK-NEXT: %[[IN:.*]] = arith.remui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[DOWN:.*]] = arith.divui %[[INSIDE]], %[[WIDTH]] : i32
// CHECK-NEXT: %[[IS_LAST:.*]] = arith.cmpi uge, %[[ITEM]], %[[BEFORE]] : i32
// CHECK-NEXT: %[[LAST_PLANE:.*]] = arith.addi %[[FIRST]], %[[IN]] : i32
// CHECK-DAG: %[[ITS_PLANE:.*]] = arith.select %[[IS_LAST]], %[[LAST_PLANE]], %[[PLANE]] : i32
// CHECK-DAG: %[[BLOCK:.*]] = arith.select %[[IS_LAST]], %[[DOWN]], %[[OTHERS]] : i32
// CHECK: arith.remui %[[ITS_PLANE]], %[[HEADS]] : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}box[%{{.*}}, %[[BLOCK]],
ws.kernel @last_section_of_keys machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = grid, order = shortest_last, section_mib = 16> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %b = ws.smem %two : !llvm.ptr<3>
    %s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
    ws.work_loop extents(%n, %three, %two) {
      %w = tile.next_work extents(%n, %three, %two) section(%two)
      %block, %head, %batch = tile.work_coords %w
      ws.copy %q at(%batch, %head, %block) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s barrier %b : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>, !llvm.ptr<3>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 role wg warps 4 regs 240 }>
// CHECK: launch.variant workspace 4 zeroed 4 numerics <
// CHECK: #launch.workspace
// CHECK-LABEL: llvm.func @handed_out
// CHECK-SAME: %[[COUNTER:.*]]: !llvm.ptr<1>
// The first item is the CTA's number, so the counter's answers are smaller by the size of the grid.
// CHECK: %[[ANSWER:.*]] = llvm.alloca
// CHECK: %[[ME:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK-NEXT: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[ME]], %[[CTAS]] : i32
// CHECK-NEXT: llvm.store %[[FIRST]], %[[ANSWER]]
// Divisions by the same number share its reciprocal.
// CHECK: %[[RECIPROCAL:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK: scf.while
// CHECK-NOT: arith.divui
// CHECK-NOT: arith.remui
// CHECK: %[[GRID:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK-NEXT: %[[SAID:.*]] = llvm.load %[[ANSWER]]
// CHECK-NEXT: %[[ITEM:.*]] = arith.addi %[[SAID]], %[[GRID]] : i32
// CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[ITEM]], %[[COUNT:.*]] : i32
// CHECK: %[[NONE:.*]] = arith.constant -1 : i32
// CHECK-NEXT: %[[PUT:.*]] = arith.select %[[SOME]], %{{.*}}, %[[NONE]] : i32
// CHECK: vector.from_elements %[[PUT]],
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: scf.if %[[SOME]] {
// The counter wraps to 0 after the last request of the launch.
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK-NEXT: %[[TAKEN:.*]] = llvm.atomicrmw uinc_wrap %[[COUNTER]], %[[LAST]] syncscope("device") monotonic
// CHECK-NEXT: llvm.store %[[TAKEN]], %[[ANSWER]]
// CHECK: scf.condition(%[[SOME]])
// The other role.
// CHECK: scf.while
// CHECK: %[[PLACE:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[BLOCK:.*]] = vector.extract %[[PLACE]][0]
// CHECK: %[[MORE:.*]] = arith.cmpi sge, %[[BLOCK]], %{{.*}} : i32
// CHECK: scf.if %[[MORE]] {
// CHECK: scf.condition(%[[MORE]])
ws.kernel @handed_out machine "sm_90a" args ["q"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 8256 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>):
  ws.channel @work [tensor<4xi32>] depth 2 at 8192
  ws.hold @h tensor<64x64xbf16> pieces 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %s = ws.slot_at %me : <@work, tensor<4xi32>>
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.take_item extents(%n, %n, %n)
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %n = arith.constant 7 : i32
    %s = ws.slot_at %me : <@work, tensor<4xi32>>
    %v = arith.constant dense<0> : vector<16xi32>
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.put %v in @h[%me] : vector<16xi32>
    }
  }
}
