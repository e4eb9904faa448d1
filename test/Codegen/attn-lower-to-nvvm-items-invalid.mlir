// What attn-lower-to-nvvm requires of work items.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// -----

ws.kernel @acquire machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    ws.work_loop extents(%one, %one, %one) {
      %w = tile.next_work extents(%one, %one, %one)
    }
    // expected-error @below {{'ws.acquire' op attn-lower-to-nvvm: no lowering for this op}}
    %k = ws.acquire : <@k, tensor<128x64xbf16>>
  }
}

// -----

ws.kernel @fetch_of_grid machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 64 {
^bb0(%n: f32):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.constant 1 : i32
    %s = ws.slot_at %c : <@work, tensor<4xi32>>
    ws.work_loop extents(%c, %c, %c) {
      %w = tile.next_work extents(%c, %c, %c)
      // expected-error @below {{'ws.fetch_work' op attn-lower-to-nvvm: expected to be in a 'ws.work_loop' whose items are handed out, got one whose items are not}}
      ws.fetch_work after %w
    }
  }
}

// -----

ws.kernel @no_end machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 64 attributes {attn.checks = []} {
^bb0(%n: f32):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.constant 1 : i32
    %s = ws.slot_at %c : <@work, tensor<4xi32>>
    // expected-error @below {{'ws.work_loop' op attn-lower-to-nvvm: expected one 'ws.end_unless_work' for work 'dynamic', got 0}}
    ws.work_loop extents(%c, %c, %c) {
      %w = ws.get_work %s : <@work, tensor<4xi32>>
    }
  }
}

// -----

ws.kernel @computed machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 32792 {
^bb0(%n: i32):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'tile.next_work' op attn-lower-to-nvvm: expected 'ws.take_item' where items are handed out}}
      %w = tile.next_work extents(%n, %n, %n)
      ws.end_unless_work %w
    }
  }
}

// -----

ws.kernel @items machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 32792 {
^bb0(%n: i32):
  // expected-error @below {{'arith.shli' op attn-lower-to-nvvm: expected the number of work items to be computed from sizes, arguments and constants, got a result of this op}}
  %twice = arith.shli %n, %n : i32
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%twice, %n, %n) {
      %w = tile.next_work extents(%twice, %n, %n)
    }
  }
}

// =====

// Work items.
ws.kernel @case machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 32792 {
^bb0(%n: i32):
...
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----

// no_verdict
ws.verdict @verdict at 32
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.second_run' op attn-lower-to-nvvm: expected the verdict to be taken (attn-lower-channels), got none}}
ws.second_run of %w by @verdict

// -----

// with_care
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'tile.with_care' op attn-lower-to-nvvm: expected a 'ws.verdict' in the kernel, got none}}
%r = tile.with_care %w

// -----

// slot_of_grid
ws.verdict @verdict at 32
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.verdict_slot' op attn-lower-to-nvvm: expected a kernel whose items are handed out, got one whose items are not}}
%slot = ws.verdict_slot %w
%no = arith.constant false
ws.second_run of %w by @verdict rejected %no

// =====

// Items that are handed out.
ws.kernel @case machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 64 {
^bb0(%n: f32):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.constant 1 : i32
    %s = ws.slot_at %c : <@work, tensor<4xi32>>
...
  }
}

// -----

// get_outside
// expected-error @below {{'ws.get_work' op attn-lower-to-nvvm: expected to be in a 'ws.work_loop' whose items are handed out, got no loop}}
%w = ws.get_work %s : <@work, tensor<4xi32>>
