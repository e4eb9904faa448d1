// Errors of attn-instrument.
// RUN: split-file %s %t
// RUN: attn-opt %t/unexpanded.mlir --attn-instrument -verify-diagnostics
// RUN: attn-opt %t/role.mlir --attn-instrument='roles=wg,nobody' -verify-diagnostics
// RUN: not attn-opt %t/role.mlir --attn-instrument='events=0' 2>&1 | FileCheck %s --check-prefix=EVENTS
// EVENTS: error: attn-instrument: expected 'events' from 1 to 1048576 and 'ctas' from 1 to 64, got 0 and 4
// RUN: not attn-opt %t/role.mlir --attn-instrument='ctas=65' 2>&1 | FileCheck %s --check-prefix=CTAS
// CTAS: error: attn-instrument: expected 'events' from 1 to 1048576 and 'ctas' from 1 to 64, got 4096 and 65

// RUN: attn-opt %t/full.mlir --attn-instrument -verify-diagnostics
// RUN: sed 's/sm_90a/sm_99z/; s/pieces 227/pieces 1/; /expected-error/d' %t/full.mlir | not attn-opt --attn-instrument 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: 'ws.kernel' op attn-instrument: {{.*}}got 'sm_99z'

//--- unexpanded.mlir
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @unexpanded machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{attn-instrument: expected the loop to be expanded}}
    ws.for ranges <down [masked, full]> bounds(%me, %me, %me) init() : () -> () {
    ^bb0(%j: i32):
      ws.yield
    }
  }
}

//--- role.mlir
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{attn-instrument: expected 'roles' to name roles of the kernel, got 'nobody'}}
ws.kernel @role machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

//--- full.mlir
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Two replicas, which take a word each.
// expected-error @below {{attn-instrument: expected at most 232448 bytes of shared memory with stamps, got 232456}}
ws.kernel @full machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.hold @oe tensor<8x64xbf16> pieces 227
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}
