// attn-verify-sync on roles that walk blocks of keys.
// RUN: %cases %s | attn-opt --attn-hand-out --attn-verify-sync -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// A ring of two with an edge back, a turn and a rendezvous: passes unchanged.
ws.kernel @balanced machine "sm_90a" args ["q", "n"] problem #p config <tile_m = 128, tile_n = 128, work = static> schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.edge @e credits 1
  ws.turn @t ring @wg
  ws.rendezvous @r ring @wg
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.for %i = %zero to %b#0 step %one : i32 {
        ws.wait_edge @e
        %s = ws.acquire : <@k, tensor<128x64xbf16>>
        ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.for %i = %zero to %b#0 step %one : i32 {
        %s = ws.wait : <@k, tensor<128x64xbf16>>
        ws.release %s : <@k, tensor<128x64xbf16>>
        ws.signal @e
        ws.take @t[%me]
        ws.give @t[%me]
        ws.sync @r
      }
    }
  }
}

// =====

// Blocks of keys that one role loads and another reads.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
...
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.for %i = %zero to %b#0 step %one : i32 {
        %s = ws.acquire : <@k, tensor<128x64xbf16>>
        ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
...
    }
  }
}

// -----

// split_ranges
// Peeled first step, masked and full range: as many reads as copies for every split.
ws.channel @k [tensor<128x64xbf16>] depth 2
...
%trips = arith.subi %b#0, %b#2 : i32
%m = arith.subi %b#0, %b#1 : i32
%some = arith.cmpi sgt, %trips, %zero : i32
scf.if %some {
  %first = ws.wait : <@k, tensor<128x64xbf16>>
  ws.release %first : <@k, tensor<128x64xbf16>>
  %m1 = arith.minsi %m, %trips : i32
  %m2 = arith.maxsi %m1, %one : i32
  scf.for %i = %one to %m2 step %one : i32 {
    %s = ws.wait : <@k, tensor<128x64xbf16>>
    ws.release %s : <@k, tensor<128x64xbf16>>
  }
  scf.for %i = %m2 to %trips step %one : i32 {
    %s = ws.wait : <@k, tensor<128x64xbf16>>
    ws.release %s : <@k, tensor<128x64xbf16>>
  }
}

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'k', got 1 and 0}}
// expected-note @above {{with work items of 0 + 1 blocks}}
// missing_release
// With one block nobody waits for the slot, which is still not given back.
ws.channel @k [tensor<128x64xbf16>] depth 1
...
scf.for %i = %zero to %b#0 step %one : i32 {
  %s = ws.wait : <@k, tensor<128x64xbf16>>
}

// =====

// Sub-tiles that leave blocks of keys to one another.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.turn @t ring @wg
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      scf.for %i = %zero to %b#0 step %one : i32 {
        %s = ws.acquire : <@k, tensor<128x64xbf16>>
        ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 3 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:3 = tile.bounds %w : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n, %n : i32, i32, i32
      }
      %own:3 = tile.bounds %w subtile(%me of 3) : i32, i32, i32 {
      ^bb0(%x: !tile.work):
        %first, %rows = tile.owned_rows %x
        tile.yield %first, %rows, %n : i32, i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
...
      scf.for %i = %zero to %own#0 step %one : i32 {
        %s = ws.wait : <@k, tensor<128x64xbf16>>
        ws.take @t[%me]
        ws.give @t[%me]
        ws.release %s : <@k, tensor<128x64xbf16>>
      }
    }
  }
}

// -----

// skipped
// Each sub-tile passes on what it leaves to the others: passes.
%skipped = arith.subi %b#0, %own#0 : i32
scf.for %i = %zero to %skipped step %one : i32 {
  %s = ws.wait : <@k, tensor<128x64xbf16>>
  ws.take @t[%me]
  ws.give @t[%me]
  ws.release %s : <@k, tensor<128x64xbf16>>
}

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: 'k' expected equal cycles at both ends, got 1 and 0}}
// expected-note @above {{with work items of 1 + 0 blocks}}
// skipped_and_kept
// A sub-tile that walks its own blocks alone leaves the others waiting for its slots.
