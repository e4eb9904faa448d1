// attn-verify-sync on hand-written roles: programs that end and are balanced, and others.
// RUN: %cases %s | attn-opt --attn-hand-out --attn-verify-sync -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// One of two readers never releases: its reads race with the next copy.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'other' replica 0 expected equal numbers of waits and releases of 'k', got 1 and 0}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @one_of_two_readers machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @other warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
    }
  }
}

// =====

// A role that loads, and one that computes.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
...
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @above {{with work items of 0 blocks}}
// ring_of_one
// Two slots are held at once, and the ring has one.
ws.channel @k [tensor<128x64xbf16>] depth 1
...
%s = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
// expected-note @below {{'ws.acquire' of role 'load' replica 0 (work item 0)}}
%t = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %t : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
...
%s = ws.wait : <@k, tensor<128x64xbf16>>
// expected-note @below {{'ws.wait' of role 'wg' replica 0 (work item 0)}}
%t = ws.wait : <@k, tensor<128x64xbf16>>
ws.release %s : <@k, tensor<128x64xbf16>>
ws.release %t : <@k, tensor<128x64xbf16>>

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @above {{with work items of 0 blocks}}
// unprimed
// Neither edge of the circle has a credit.
ws.edge @a credits 0
ws.edge @b credits 0
...
// expected-note @below {{'ws.wait_edge' of role 'load' replica 0 (work item 0)}}
ws.wait_edge @b
ws.signal @a
...
// expected-note @below {{'ws.wait_edge' of role 'wg' replica 0 (work item 0)}}
ws.wait_edge @a
ws.signal @b

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'k', got 2 and 0}}
// expected-note @above {{with work items of 0 blocks}}
// missing_release_deadlock
// No role releases: the second round never starts.
ws.channel @k [tensor<128x64xbf16>] depth 1
...
%s = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
%t = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %t : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
...
%s = ws.wait : <@k, tensor<128x64xbf16>>
%t = ws.wait : <@k, tensor<128x64xbf16>>

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: 'k' expected equal cycles at both ends, got 1 and 0}}
// expected-note @above {{with work items of 0 blocks}}
// unread
ws.channel @k [tensor<128x64xbf16>] depth 2
...
%s = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
...

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'load' replica 0 expected equal numbers of acquires and copies of 'k', got 1 and 0}}
// expected-note @above {{with work items of 0 blocks}}
// never_filled
// The slot is acquired and nothing is copied into it.
ws.channel @k [tensor<128x64xbf16>] depth 2
...
%s = ws.acquire : <@k, tensor<128x64xbf16>>
...
%s = ws.wait : <@k, tensor<128x64xbf16>>
ws.release %s : <@k, tensor<128x64xbf16>>

// -----

// both_ends
// A role may wait for the edge that it signals: passes.
ws.edge @e credits 0
...
ws.signal @e
ws.wait_edge @e
...
ws.wait_edge @e

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 2 and 1}}
// expected-note @above {{with work items of 0 blocks}}
// unbalanced_edge
ws.edge @e credits 0
...
ws.signal @e
ws.signal @e
...
ws.wait_edge @e

// =====

// A ring of two roles.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.turn @t ring @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of takes and gives of 't', got 1 and 2}}
// expected-note @above {{with work items of 0 blocks}}
// unbalanced_turn
ws.take @t[%me]
ws.give @t[%me]
ws.give @t[%me]

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of takes and gives of 't', got 1 and 0}}
// expected-note @above {{with work items of 0 blocks}}
// kept_turn
// The first replica keeps its turn.
ws.take @t[%me]

// =====

// Two CTAs of a cluster.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config <tile_m = 128, tile_n = 128, work = grid, cluster = 2> schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1 cluster
...
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----

// cluster
// A channel and an edge of a cluster pass.
ws.edge @e credits 1 cluster
...
ws.wait_edge @e
%s = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
...
%s = ws.wait : <@k, tensor<128x64xbf16>>
ws.release %s : <@k, tensor<128x64xbf16>>
ws.signal @e

// -----
// expected-error @above {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @above {{with work items of 0 blocks}}
// cluster_unprimed
// The same without a credit: the roles of both CTAs wait for one another.
ws.edge @e credits 0 cluster
...
// expected-note @below {{'ws.wait_edge' of role 'load' replica 0 of CTA 0 (work item 0)}}
// expected-note @below {{'ws.wait_edge' of role 'load' replica 0 of CTA 1 (work item 0)}}
ws.wait_edge @e
%s = ws.acquire : <@k, tensor<128x64xbf16>>
ws.copy %q at(%n, %n, %n) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
...
// expected-note @below {{'ws.wait' of role 'wg' replica 0 of CTA 0 (work item 0)}}
// expected-note @below {{'ws.wait' of role 'wg' replica 0 of CTA 1 (work item 0)}}
%s = ws.wait : <@k, tensor<128x64xbf16>>
ws.release %s : <@k, tensor<128x64xbf16>>
ws.signal @e

// =====

// One role.
ws.kernel @case machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// unexpanded
ws.work_loop extents(%n, %n, %n) {
  // expected-error @below {{'ws.for' op attn-verify-sync: expected only 'scf.for' and 'scf.if' around synchronization}}
  // expected-note @below {{with work items of 0 blocks}}
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.entry @w issue 0 shift 0 {
      ws.wait_edge @e
      ws.yield
    }
    ws.yield
  }
}

// -----

// unknown_trips
%one = arith.constant 1 : i32
// expected-error @below {{'scf.for' op attn-verify-sync: expected a number computed from 'tile.bounds' and constants, got a block argument}}
// expected-note @below {{with work items of 0 blocks}}
scf.for %i = %one to %n step %one : i32 {
  ws.signal @e
}

// -----

// unknown_condition
%c = arith.trunci %n : i32 to i1
// expected-error @below {{'scf.if' op attn-verify-sync: expected a number computed from 'tile.bounds' and constants, got arith.trunci}}
// expected-note @below {{with work items of 0 blocks}}
scf.if %c {
  ws.signal @e
}

// -----

// many_trips
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%many = arith.constant 1000000000 : i32
// expected-error @below {{'scf.for' op attn-verify-sync: expected at most 64 trips, signed, with a step of at least 1, got 0 to 1000000000 step 1}}
// expected-note @below {{with work items of 0 blocks}}
scf.for %i = %zero to %many step %one : i32 {
  ws.signal @e
}
