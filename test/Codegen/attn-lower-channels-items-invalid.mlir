// What attn-lower-channels requires of work items that are handed out, or may be rejected.
// RUN: %cases %s | attn-opt --attn-lower-channels -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// -----

ws.kernel @put_into_waited machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 64 {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.wait : <@work, tensor<4xi32>>
      // expected-error @below {{'ws.put_work' op attn-lower-channels: expected a slot that 'ws.acquire' gives, got another}}
      ws.put_work %w to %s : <@work, tensor<4xi32>>
    }
  }
}

// -----

ws.kernel @two_hand_out machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 64 {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1 at 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
    }
  }
  ws.role @other warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.acquire' op attn-lower-channels: expected one role to fill @work, got 'load' and 'other'}}
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
    }
  }
}

// -----

ws.kernel @reject_of_one_thread machine "sm_90a" args ["lse" write, "n", "no"] problem #p config #c schedule #s smem 49152 {
^bb0(%lse: tensor<?x?x?xf32>, %n: i32, %no: i1):
  ws.verdict @verdict at 49152
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.give_verdict' op attn-lower-channels: no lowering in role 'load', which one thread runs}}
      ws.give_verdict @verdict on %w rejected %no
      ws.second_run of %w by @verdict
    }
  }
}

// -----

// The copy of an item has 16 bytes, so its address has to be a multiple of 16.
ws.kernel @misaligned_mailbox machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s smem 49152 {
^bb0(%n: i32):
  // expected-error @below {{'ws.mailbox' op attn-lower-channels: expected an offset after the barriers, a multiple of 16 from byte 49152 on, got 49160}}
  ws.mailbox @mailbox at 49160
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @two_verdicts machine "sm_90a" args ["lse" write, "n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s smem 49152 {
^bb0(%lse: tensor<?x?x?xf32>, %n: i32, %no: i1):
  ws.verdict @verdict at 49152
  // expected-error @below {{'ws.role' op attn-lower-channels: expected at most one 'ws.give_verdict' in role 'wg', got 2}}
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %row = arith.constant dense<0.0> : vector<1xf32>
      tile.store_row %row, %lse at(%n, %n, %n) : vector<1xf32>, tensor<?x?x?xf32>
      ws.give_verdict @verdict on %w rejected %no
      ws.give_verdict @verdict on %w rejected %no
    }
  }
}

// =====

// A role whose items may be rejected.
ws.kernel @case machine "sm_90a" args ["lse" write, "n", "no"] problem #p config #c schedule #s smem 49152 {
^bb0(%lse: tensor<?x?x?xf32>, %n: i32, %no: i1):
...
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
...
    }
  }
}

// -----

// no_verdict_given
// expected-error @below {{'ws.verdict' op attn-lower-channels: expected a 'ws.give_verdict' for it, got none}}
ws.verdict @verdict at 49152
...
ws.second_run of %w by @verdict

// -----

// rejected
// A program such as attn-hand-out writes.
// expected-error @below {{'tile.reject' op attn-lower-channels: expected a 'ws.give_verdict' (attn-hand-out)}}
tile.reject %w if %no

// -----

// over_barriers
ws.edge @e credits 0
// expected-error @below {{'ws.verdict' op attn-lower-channels: expected an offset after the barriers, a multiple of 8 from byte 49160 on, got 49152}}
ws.verdict @verdict at 49152
...
%row = arith.constant dense<0.0> : vector<1xf32>
tile.store_row %row, %lse at(%n, %n, %n) : vector<1xf32>, tensor<?x?x?xf32>
ws.give_verdict @verdict on %w rejected %no
ws.second_run of %w by @verdict
