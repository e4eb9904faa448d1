// Constraints of stamps, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// -----

ws.kernel @stamps_c1_events machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{attribute 'events' failed to satisfy constraint}}
  ws.stamps events 0 ctas 4
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @stamps_c1_ctas machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{attribute 'ctas' failed to satisfy constraint}}
  ws.stamps events 1 ctas 65
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @stamp_c1_none machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.stamp' op expected one 'ws.stamps' in the kernel, got 0}}
    ws.stamp run
  }
}

// -----

ws.kernel @stamp_c1_two machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.stamps events 1 ctas 1
  ws.stamps events 1 ctas 1
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.stamp' op expected one 'ws.stamps' in the kernel, got 2}}
    ws.stamp run
  }
}

// -----

ws.kernel @stamp_c2 machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.stamps events 1 ctas 1
  ws.setup {
    // expected-error @below {{'ws.stamp' op expected to be in a 'ws.role'}}
    ws.stamp run
  }
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}
