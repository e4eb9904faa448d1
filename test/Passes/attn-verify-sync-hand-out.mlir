// attn-verify-sync on items that one role hands out, and on items that may be rejected.
// RUN: %cases %s | attn-opt --attn-hand-out --attn-verify-sync -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// Nobody asks for the next item after one without blocks: it would come again.
ws.kernel @fetch_of_some machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op attn-verify-sync: V26: expected one 'ws.fetch_work' an iteration of the work loop, got 0, with an item of 0 blocks}}
    // expected-note @below {{with work items of 0 + 0 blocks}}
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.put_work %w to %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %some = arith.cmpi sgt, %b#0, %zero : i32
      scf.if %some {
        ws.fetch_work after %w
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.release %s : <@work, tensor<4xi32>>
    }
  }
}

// -----

// An item that may be rejected, balanced: passes.
ws.kernel @rejected machine "sm_90a" args ["q", "n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid, row_max = first_block> schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
      tile.reject %w if %no
    }
  }
}

// -----

// The second run would wait for a signal that the first one left out.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 0 and 1}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @rejected_unbalanced machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid, row_max = first_block> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.edge @e credits 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.wait_edge @e
      tile.reject %w if %no
    }
  }
}

// =====

// Items that one role hands out.
ws.kernel @case machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
...
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
...
    }
  }
}

// -----

// handed_out
// Items through a channel, and one more that ends all roles: passes unchanged.
ws.put_work %w to %s : <@work, tensor<4xi32>>
ws.end_unless_work %w
ws.fetch_work after %w
...
ws.release %s : <@work, tensor<4xi32>>
ws.end_unless_work %w

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'load' replica 0 expected equal numbers of acquires and copies of 'work', got 2 and 1}}
// expected-note @above {{with work items of 0 blocks}}
// put_after_the_end
// The last cycle, which says that there are no more items, is acquired and not filled.
ws.end_unless_work %w
ws.put_work %w to %s : <@work, tensor<4xi32>>
ws.fetch_work after %w
...
ws.release %s : <@work, tensor<4xi32>>
ws.end_unless_work %w

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'work', got 2 and 1}}
// expected-note @above {{with work items of 0 blocks}}
// kept_at_the_end
// The slot with the end is not given back.
ws.put_work %w to %s : <@work, tensor<4xi32>>
ws.end_unless_work %w
ws.fetch_work after %w
...
ws.end_unless_work %w
ws.release %s : <@work, tensor<4xi32>>
