// RUN: attn-opt %s --attn-hand-out -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op attn-hand-out: expected 'work' to be grid or dynamic where items may be rejected, got static}}
ws.kernel @static machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = static> schedule #s {
^bb0(%n: i32, %no: i1):
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
// Each of two roles would take items of its own.
ws.kernel @two_roles machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'tile.next_work' op attn-hand-out: expected one role to take the work items that are handed out, got another 'tile.next_work' before}}
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// A role that does not know its item cannot tell whether this is its second run.
ws.kernel @no_item machine "sm_90a" args ["n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op attn-hand-out: expected one 'tile.next_work' where items may be rejected, got 0}}
    ws.work_loop extents(%n, %n, %n) {
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
