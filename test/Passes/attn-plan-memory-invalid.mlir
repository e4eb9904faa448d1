// What attn-plan-memory requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-plan-memory -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @case machine "sm_90a" args [] problem #p config #c schedule #s {
...
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----
// expected-error @above {{'ws.kernel' op attn-plan-memory: expected at most 232448 bytes of shared memory on 'sm_90a', got 360784}}
ws.channel @q [tensor<128x64xbf16>] depth 1
ws.channel @k [tensor<128x64xbf16>] depth 20
ws.hold @oe tensor<64x64xbf16> pieces 2

// -----

// expected-error @below {{'ws.hold' op attn-plan-memory: expected 'oe2' to be a place in shared memory}}
ws.hold @oe tensor<64x64xbf16> pieces 2 over @oe2
ws.hold @oe2 tensor<64x64xbf16> pieces 2 over @oe

// -----

ws.channel @q [tensor<128x64xbf16>] depth 1
// expected-error @below {{'ws.hold' op attn-plan-memory: expected at most 16384 bytes over 'q', got 24576}}
ws.hold @oe tensor<64x64xbf16> pieces 3 over @q

// -----

ws.channel @q [tensor<128x64xbf16>] depth 1
// expected-error @below {{'ws.channel' op attn-plan-memory: expected at most 16384 bytes over 'q', got 32768}}
ws.channel @k [tensor<128x64xbf16>] depth 2 over @q
