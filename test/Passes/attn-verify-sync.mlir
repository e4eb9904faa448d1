// attn-verify-sync on hand-written roles: what ends and is balanced, and what is not.
// RUN: attn-opt %s --attn-hand-out --attn-verify-sync -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = static>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A ring of two with an edge back, a turn and a rendezvous: passes unchanged.
ws.kernel @balanced machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
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
        ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Peeled first step, masked and full range: as many reads as copies for every split.
ws.kernel @split_ranges machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
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
        ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Two slots are held at once, and the ring has one.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @ring_of_one machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      // expected-note @below {{'ws.acquire' of role 'load' replica 0 (work item 0)}}
      %t = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %t : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      // expected-note @below {{'ws.wait' of role 'wg' replica 0 (work item 0)}}
      %t = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
      ws.release %t : <@k, tensor<128x64xbf16>>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Neither edge of the circle has a credit.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @unprimed machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @a credits 0
  ws.edge @b credits 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{'ws.wait_edge' of role 'load' replica 0 (work item 0)}}
      ws.wait_edge @b
      ws.signal @a
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{'ws.wait_edge' of role 'wg' replica 0 (work item 0)}}
      ws.wait_edge @a
      ws.signal @b
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// With one block nobody waits for the slot, which is still not given back.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'k', got 1 and 0}}
// expected-note @below {{with work items of 0 + 1 blocks}}
ws.kernel @missing_release machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1
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
        ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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
      scf.for %i = %zero to %b#0 step %one : i32 {
        %s = ws.wait : <@k, tensor<128x64xbf16>>
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// No role releases: the second round never starts.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'k', got 2 and 0}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @missing_release_deadlock machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
      %t = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %t : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      %t = ws.wait : <@k, tensor<128x64xbf16>>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
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
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'k' expected equal cycles at both ends, got 1 and 0}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @unread machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The slot is acquired and nothing is copied into it.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'load' replica 0 expected equal numbers of acquires and copies of 'k', got 1 and 0}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @never_filled machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A role may wait for the edge that it signals: passes.
ws.kernel @both_ends machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.signal @e
      ws.wait_edge @e
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.wait_edge @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 2 and 1}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @unbalanced_edge machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.signal @e
      ws.signal @e
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.wait_edge @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of takes and gives of 't', got 1 and 2}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @unbalanced_turn machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.turn @t ring @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.take @t[%me]
      ws.give @t[%me]
      ws.give @t[%me]
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The first replica keeps its turn.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of takes and gives of 't', got 1 and 0}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @kept_turn machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.turn @t ring @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.take @t[%me]
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @unexpanded machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.for' op attn-verify-sync: expected 'scf.for' and 'scf.if' alone round synchronization}}
      // expected-note @below {{with work items of 0 blocks}}
      ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
      ^bb0(%j: i32):
        ws.entry @w slot 0 shift 0 {
          ws.wait_edge @e
          ws.yield
        }
        ws.yield
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @unknown_trips machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %one = arith.constant 1 : i32
    // expected-error @below {{'scf.for' op attn-verify-sync: expected a number computed from 'tile.bounds' and constants, got a block argument}}
    // expected-note @below {{with work items of 0 blocks}}
    scf.for %i = %one to %n step %one : i32 {
      ws.signal @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @unknown_condition machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.trunci %n : i32 to i1
    // expected-error @below {{'scf.if' op attn-verify-sync: expected a number computed from 'tile.bounds' and constants, got arith.trunci}}
    // expected-note @below {{with work items of 0 blocks}}
    scf.if %c {
      ws.signal @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @many_trips machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 1000000000 : i32
    // expected-error @below {{'scf.for' op attn-verify-sync: expected at most 64 trips, signed, with a step of at least 1, got 0 to 1000000000 step 1}}
    // expected-note @below {{with work items of 0 blocks}}
    scf.for %i = %zero to %many step %one : i32 {
      ws.signal @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Items through a channel, and one more that ends all roles: passes unchanged.
ws.kernel @handed_out machine "sm_90a" args ["n"] problem #p config #c schedule #s {
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
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      ws.release %s : <@work, tensor<4xi32>>
      ws.end_unless_work %w
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The last cycle, which says that there are no more items, is acquired and not filled.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'load' replica 0 expected equal numbers of acquires and copies of 'work', got 2 and 1}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @put_after_the_end machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@work, tensor<4xi32>>
      ws.end_unless_work %w
      ws.put_work %w to %s : <@work, tensor<4xi32>>
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
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The slot with the end is not given back.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: role 'wg' replica 0 expected equal numbers of waits and releases of 'work', got 2 and 1}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @kept_at_the_end machine "sm_90a" args ["n"] problem #p config #c schedule #s {
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Nobody asks for the next item after one without blocks: it would come again.
ws.kernel @fetch_of_some machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op attn-verify-sync: V26: expected one 'ws.fetch_work' a turn, got 0, with an item of 0 blocks}}
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// An item that may be rejected, balanced: passes.
ws.kernel @rejected machine "sm_90a" args ["q", "n", "no"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, row_max = first_block>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The second run would wait for a signal that the first one left out.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'e' expected equal cycles at both ends, got 0 and 1}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @rejected_unbalanced machine "sm_90a" args ["n", "no"] problem #p config #c schedule #s {
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

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Each sub-tile passes on what it leaves to the others: passes.
ws.kernel @skipped machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
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
        ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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
      %skipped = arith.subi %b#0, %own#0 : i32
      scf.for %i = %zero to %skipped step %one : i32 {
        %s = ws.wait : <@k, tensor<128x64xbf16>>
        ws.take @t[%me]
        ws.give @t[%me]
        ws.release %s : <@k, tensor<128x64xbf16>>
      }
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A sub-tile that walks its own blocks alone leaves the others waiting for its slots.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V15: 'k' expected equal cycles at both ends, got 1 and 0}}
// expected-note @below {{with work items of 1 + 0 blocks}}
ws.kernel @skipped_and_kept machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
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
        ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, cluster = 2>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A channel and an edge of a cluster pass.
ws.kernel @cluster machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1 cluster
  ws.edge @e credits 1 cluster
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      ws.wait_edge @e
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
      ws.signal @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, cluster = 2>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The same without a credit: the roles of both CTAs wait for one another.
// expected-error @below {{'ws.kernel' op attn-verify-sync: V18: expected all roles to end, got a deadlock with}}
// expected-note @below {{with work items of 0 blocks}}
ws.kernel @cluster_unprimed machine "sm_90a" args ["q", "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 1 cluster
  ws.edge @e credits 0 cluster
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{'ws.wait_edge' of role 'load' replica 0 of CTA 0 (work item 0)}}
      // expected-note @below {{'ws.wait_edge' of role 'load' replica 0 of CTA 1 (work item 0)}}
      ws.wait_edge @e
      %s = ws.acquire : <@k, tensor<128x64xbf16>>
      ws.copy %q at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
    }
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{'ws.wait' of role 'wg' replica 0 of CTA 0 (work item 0)}}
      // expected-note @below {{'ws.wait' of role 'wg' replica 0 of CTA 1 (work item 0)}}
      %s = ws.wait : <@k, tensor<128x64xbf16>>
      ws.release %s : <@k, tensor<128x64xbf16>>
      ws.signal @e
    }
  }
}
