// attn-hand-out: verdicts and second runs, items from the counter, and the mailbox of a cluster.
// RUN: attn-opt %s --attn-hand-out -split-input-file | FileCheck %s
// RUN: attn-opt %s --attn-hand-out -split-input-file -o %t.once.mlir
// RUN: attn-opt %t.once.mlir --attn-hand-out -split-input-file | diff %t.once.mlir -

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// One item a CTA: every role takes the verdict at its end, also the one that gives it.
// CHECK-LABEL: ws.kernel @grid
// CHECK: ws.verdict @verdict{{$}}
// CHECK: ws.role @load
// CHECK: %[[W:.*]] = tile.next_work
// CHECK-NEXT: ws.second_run of %[[W]] by @verdict
// CHECK: ws.role @wg
// CHECK: %[[W:.*]] = tile.next_work
// CHECK-NEXT: ws.give_verdict @verdict on %[[W]] rejected %{{.*}}
// CHECK-NEXT: ws.second_run of %[[W]] by @verdict
ws.kernel @grid machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid, row_max = first_block> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      tile.reject %w if %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// In a cluster the first CTA takes items and verdicts.
// CHECK-LABEL: ws.kernel @cluster
// CHECK: ws.verdict @verdict{{$}}
// CHECK: ws.mailbox @mailbox{{$}}
// CHECK: ws.role @load
// CHECK: %[[W:.*]] = ws.share_work through @mailbox {
// CHECK-NEXT:   %[[NEXT:.*]] = ws.take_item extents(%[[N:.*]], %[[N]], %[[N]]) section(%[[N]])
// CHECK-NEXT:   %[[ITEM:.*]] = ws.choose_item %[[NEXT]] by @verdict
// CHECK-NEXT:   ws.yield %[[ITEM]] : !tile.work
// CHECK-NEXT: }
// CHECK: ws.put_work %[[W]]
// CHECK-NEXT: ws.end_unless_work %[[W]]
// CHECK-NEXT: ws.fetch_work after %[[W]]
// CHECK: ws.role @wg
// CHECK: ws.give_verdict @verdict
// CHECK-NOT: ws.second_run
ws.kernel @cluster machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, row_max = first_block, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n) section(%n)
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
      tile.reject %w if %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Nothing is rejected, and the item is the counter's answer.
// CHECK-LABEL: ws.kernel @handed_out
// CHECK-NOT: ws.verdict
// CHECK: %[[W:.*]] = ws.take_item extents
// CHECK-NOT: ws.choose_item
// CHECK: ws.end_unless_work %[[W]]
// CHECK-NEXT: ws.fetch_work after %[[W]]
ws.kernel @handed_out machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1
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
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Nothing is rejected or handed out: left alone.
// CHECK-LABEL: ws.kernel @static
// CHECK-NOT: ws.verdict
// CHECK: tile.next_work
ws.kernel @static machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = static> schedule #s {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}
