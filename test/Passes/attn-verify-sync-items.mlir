// attn-verify-sync on verdicts, second runs and items handed out.
// RUN: attn-opt %s --attn-verify-sync -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// What attn-hand-out would have written.
ws.kernel @rejected machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'tile.reject' op attn-verify-sync: expected a 'ws.give_verdict' (attn-hand-out)}}
      tile.reject %w if %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A verdict that is waited for before it is given.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with role 'wg' replica 0 at phase 0 of barrier 0 of 'verdict', role 'wg' replica 1 at phase 0 of barrier 0 of 'verdict'}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @taken_early machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.verdict @verdict
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = tile.next_work extents(%n, %n, %n)
      %second = tile.is_redo %w
      %again = scf.if %second -> (i1) {
        scf.yield %second : i1
      } else {
        // expected-note @below {{'ws.take_verdict' of role 'wg' replica 0 (work item 0)}}
        // expected-note @below {{'ws.take_verdict' of role 'wg' replica 1 (work item 0)}}
        %rejected = ws.take_verdict @verdict
        scf.yield %rejected : i1
      }
      ws.give_verdict @verdict on %w rejected %no
      ws.run_again %again
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The second run has no verdict to take.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'verdict' expected role 'wg' replica 0 to take each verdict that role 'wg' replica 0 gives, got 2 and 1}}
// expected-note @below {{with work items of 0, 0 (again) blocks}}
ws.kernel @taken_twice machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.verdict @verdict
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = tile.next_work extents(%n, %n, %n)
      ws.give_verdict @verdict on %w rejected %no
      %again = ws.take_verdict @verdict
      ws.run_again %again
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The counter is asked in a second run as well: the answer to the first question is lost.
ws.kernel @asked_again machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.verdict @verdict handed_out
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op attn-verify-sync: V26: expected 1 'ws.fetch_work' after 1 work items, got 2, the last item with 0 blocks}}
    // expected-note @below {{with work items of 0, 0 (again) blocks}}
    ws.work_loop extents(%n, %n, %n) redo {
      %next, %more = ws.take_item extents(%n, %n, %n)
      %number, %exists, %second, %slot = ws.choose_item %next, %more by @verdict
      %w = ws.item_at %number exists(%exists) second(%second, %slot) extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.fetch_work of %n
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.give_verdict @verdict on %w rejected %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A role that gives two verdicts on an item, in a cluster.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'verdict' expected role 'load' replica 0 of CTA 0 to take each verdict that role 'other' replica 0 of CTA 0 gives, got 1 and 2}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @given_twice machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.verdict @verdict handed_out cluster
  ws.mailbox @mailbox
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %w = ws.share_work through @mailbox {
        %next, %more = ws.take_item extents(%n, %n, %n)
        %number, %exists, %second, %slot = ws.choose_item %next, %more by @verdict
        %x = ws.item_at %number exists(%exists) second(%second, %slot) extents(%n, %n, %n)
        ws.yield %x : !tile.work
      }
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %first = ws.is_first_cta
      scf.if %first {
        %again = ws.is_second_run %w
        %yes = arith.constant true
        %once = arith.xori %again, %yes : i1
        scf.if %once {
          ws.fetch_work of %n
        }
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
    }
  }
  ws.role @other warps 4 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) redo {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.give_verdict @verdict on %w rejected %no
      ws.give_verdict @verdict on %w rejected %no
    }
  }
}
