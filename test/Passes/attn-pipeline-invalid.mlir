// What attn-pipeline requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-pipeline -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @case machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
^bb0(%j: i32):
  // expected-error @below {{'ws.entry' op attn-pipeline: expected a shift of at most 1 for 'sum', got 2}}
  ws.entry @sum issue 5 shift 2 {
    ws.yield
  }
  ws.yield
}

// -----

ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
^bb0(%j: i32):
  // expected-error @below {{'ws.entry' op attn-pipeline: no lowering for 'last' in a loop without shifts}}
  ws.entry @ld_q issue 1 shift 0 guard last {
    ws.yield
  }
  ws.yield
}

// -----

// expected-error @below {{'ws.for' op attn-pipeline: expected carried values to be made by entries}}
%sum = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
^bb0(%j: i32, %old: i32):
  ws.yield %old : i32
}
