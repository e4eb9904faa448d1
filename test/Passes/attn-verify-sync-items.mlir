// attn-verify-sync on verdicts, second runs and items handed out.
// RUN: %cases %s | attn-opt --attn-verify-sync -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// -----

// A program such as attn-hand-out writes.
ws.kernel @rejected machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'tile.reject' op attn-verify-sync: expected a 'ws.give_verdict' (attn-hand-out)}}
      tile.reject %w if %no
    }
  }
}

// -----

ws.kernel @computed machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'tile.next_work' op attn-verify-sync: expected a 'ws.take_item' where items are handed out (attn-hand-out)}}
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

// A verdict that nobody gives.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'verdict' expected a role that gives it, got none}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @not_given machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32):
  ws.verdict @verdict
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.second_run of %w by @verdict
    }
  }
}

// -----

// The second run would wait for an edge that is never signaled.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 0 and 1}}
// expected-note @below {{with work items of 0, 0 (second run) blocks}}
ws.kernel @second_run_waits machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.verdict @verdict
  ws.edge @e credits 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.second_run of %w by @verdict
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %second = tile.with_care %w
      scf.if %second {
        ws.wait_edge @e
      }
      ws.give_verdict @verdict on %w rejected %no
      ws.second_run of %w by @verdict
    }
  }
}

// -----

// The same for a part, which is computed with care in its first run.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 0 and 1}}
// expected-note @below {{with work items of 0 (part) blocks}}
ws.kernel @part_waits machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 2> schedule #s {
^bb0(%n: i32, %no: i1):
  %whole, %parts = tile.cut %n by 64 most 2
  ws.channel @work [tensor<4xi32>] depth 1
  ws.verdict @verdict
  ws.edge @e credits 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %next = ws.take_item extents(%n, %n, %n) cut(%whole, %parts)
      %w = ws.choose_item %next by @verdict
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work after %w
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %b:2 = tile.bounds %w : i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n : i32, i32
      }
      %careful = tile.with_care %w
      scf.if %careful {
        %zero = arith.constant 0 : i32
        %none = arith.cmpi eq, %b#0, %zero : i32
        scf.if %none {
          ws.wait_edge @e
        }
      }
      ws.give_verdict @verdict on %w rejected %no
    }
  }
}

// -----

// A role that gives two verdicts on an item, in a cluster.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'verdict' expected role 'load' replica 0 of CTA 0 to take each verdict that role 'other' replica 0 of CTA 0 gives, got 1 and 2}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @given_twice machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.verdict @verdict
  ws.mailbox @mailbox
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.share_work through @mailbox {
        %next = ws.take_item extents(%n, %n, %n)
        %x = ws.choose_item %next by @verdict
        ws.yield %x : !tile.work
      }
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
    }
  }
  ws.role @other warps 4 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.give_verdict @verdict on %w rejected %no
      ws.give_verdict @verdict on %w rejected %no
    }
  }
}
