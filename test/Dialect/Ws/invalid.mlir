// Every constraint of the ws dialect, by op and label.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expected a static 16-bit tile of rank 2, or tensor<4xi32> for a work item, got 'tensor<128xbf16>'}}
func.func private @slot_c1_rank(!ws.slot<@k, tensor<128xbf16>>)

// -----

// expected-error @below {{expected a static 16-bit tile of rank 2, or tensor<4xi32> for a work item, got 'tensor<8x8xindex>'}}
func.func private @slot_c1_element(!ws.slot<@k, tensor<8x8xindex>>)

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op expected 1 'args', got 2}}
ws.kernel @kernel_c1 machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// expected-error @below {{'ws.kernel' op expected at least one role, got none}}
ws.kernel @kernel_c2 machine "sm_90a" args [] problem #p config #c schedule #s {
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c3 machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.acquire' op expected only declarations, roles and pure scalar ops in 'ws.kernel'}}
  %s = ws.acquire : <@k, tensor<128x64xbf16>>
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c4_undeclared machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.acquire' op expected @k to be a 'ws.channel' of the kernel, got no such symbol}}
    %s = ws.acquire : <@k, tensor<128x64xbf16>>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c4_kind machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{declared here}}
  ws.edge @k credits 0
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.wait' op expected @k to be a 'ws.channel' of the kernel, got a 'ws.edge'}}
    %s = ws.wait : <@k, tensor<128x64xbf16>>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c4_tile machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{the channel carries [tensor<128x64xbf16>]}}
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.wait' op expected a tile that @k carries, got 'tensor<64x64xbf16>'}}
    %s = ws.wait : <@k, tensor<64x64xbf16>>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c5_put machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @k [tensor<128x64xbf16>] depth 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %t = arith.constant dense<0> : vector<4xi32>
    // expected-error @below {{'ws.put' op expected @h to be a 'ws.hold' of the kernel, got no such symbol}}
    ws.put %t in @h[%me] : vector<4xi32>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c5_type machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.hold @h tensor<64x64xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %t = arith.constant dense<0.0> : tensor<64x32xbf16>
    // expected-error @below {{'ws.put' op expected a tile of the type of @h, 'tensor<64x64xbf16>', got 'tensor<64x32xbf16>'}}
    ws.put %t in @h[%me] : tensor<64x32xbf16>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c5_store machine "sm_90a" args ["o" write] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x96xbf16>):
  ws.hold @h tensor<64x64xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.store' op expected 'dest' to have the element type and at most the last dimension of @h, 'tensor<64x64xbf16>', got 'tensor<?x?x?x96xbf16>'}}
    ws.store @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, h, i, c)> : tensor<?x?x?x96xbf16>
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_turn machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{declared here}}
  ws.edge @e credits 0
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.take' op expected @e to be a 'ws.turn' of the kernel, got a 'ws.edge'}}
    ws.take @e[%me]
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_give machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.give' op expected @t to be a 'ws.turn' of the kernel, got no such symbol}}
    ws.give @t[%me]
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_edge machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.signal' op expected @e to be a 'ws.edge' of the kernel, got no such symbol}}
    ws.signal @e
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_wait_edge machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.wait_edge' op expected @e to be a 'ws.edge' of the kernel, got no such symbol}}
    ws.wait_edge @e
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_sync machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.sync' op expected @r to be a 'ws.rendezvous' of the kernel, got no such symbol}}
    ws.sync @r
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c6_ring machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.turn @t ring @wg
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
  ws.role @other warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.take' op expected to be in role @wg, the ring of @t, got role @other}}
    ws.take @t[%me]
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c7_turn machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.turn' op expected @x to be a 'ws.role' of the kernel, got no such symbol}}
  ws.turn @t ring @x
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c7_rendezvous machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{declared here}}
  ws.edge @e credits 0
  // expected-error @below {{'ws.rendezvous' op expected @e to be a 'ws.role' of the kernel, got a 'ws.edge'}}
  ws.rendezvous @r ring @e
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c8_itself machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected to be over another channel or hold of the kernel, got @k}}
  ws.channel @k [tensor<128x64xbf16>] depth 2 over @k
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c8_kind machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.edge @e credits 0
  // expected-error @below {{'ws.hold' op expected to be over another channel or hold of the kernel, got @e}}
  ws.hold @h tensor<64x64xbf16> pieces 1 over @e
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c1_depth machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op attribute 'depth' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.channel @k [tensor<128x64xbf16>] depth 0
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c1_offset machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  ws.channel @k [tensor<128x64xbf16>] depth 1 at -8
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c2_none machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected at least one type, got none}}
  ws.channel @k [] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c2_width machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, or tensor<4xi32> alone for work items, got 'tensor<128x64xf32>'}}
  ws.channel @k [tensor<128x64xf32>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c2_index machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, or tensor<4xi32> alone for work items, got 'tensor<8x8xindex>'}}
  ws.channel @k [tensor<8x8xindex>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.channel' op expects parent op 'ws.kernel'}}
ws.channel @channel_parent [tensor<128x64xbf16>] depth 1

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @hold_c1 machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.hold' op attribute 'pieces' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.hold @h tensor<64x64xbf16> pieces 0
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @hold_c2 machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.hold' op expected a static 16-bit tile of rank 2, got 'tensor<?x64xbf16>'}}
  ws.hold @h tensor<?x64xbf16> pieces 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @edge_c1 machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.edge' op attribute 'credits' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  ws.edge @e credits -1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @role_c1 machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op expected one block argument of type i32, got ('i32', 'i64')}}
  ws.role @wg warps 4 regs 24 replicas 1 {
  ^bb0(%me: i32, %x: i64):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @role_c2_warps machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'warps' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.role @wg warps 0 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @role_c2_replicas machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'replicas' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.role @wg warps 4 regs 24 replicas 0 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @role_c2_regs machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'regs' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  ws.role @wg warps 4 regs -8 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

func.func @for_c1_entries(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.await_store' op expected only 'ws.entry' in the body of 'ws.for'}}
    ws.await_store
    ws.yield
  }
  return
}

// -----

func.func @for_c1_slots(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.entry @a slot 3 shift 0 {
      ws.yield
    }
    // expected-error @below {{'ws.entry' op expected a slot of its own, got slot 3 a second time}}
    ws.entry @b slot 3 shift 0 {
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c2_bounds(%n: i32) {
  // expected-error @below {{'ws.for' op expected 2 bounds for 1 ranges, got 1}}
  ws.for ranges <down [full]> bounds(%n) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @for_c2_skipped(%n: i32) {
  // expected-error @below {{'ws.for' op expected the first range alone to be skipped, got range 1}}
  ws.for ranges <down [full, skipped]> bounds(%n, %n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @for_c3(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    %a = ws.entry @a slot 0 shift 0 masked(%n : i32) -> i32 {
      ws.yield %n : i32
    }
    // expected-error @below {{'ws.entry' op expected masked entries to have one shift, got 1 after 0}}
    %b = ws.entry @b slot 1 shift 1 masked(%n : i32) -> i32 {
      ws.yield %n : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c4_later_slot(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-note @below {{the entry that computes it}}
    %a = ws.entry @a slot 5 shift 0 -> i32 {
      ws.yield %n : i32
    }
    // expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of slot 5, shift 0}}
    %b = ws.entry @b slot 1 shift 0 -> i32 {
      ws.yield %a : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c4_shift(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-note @below {{the entry that computes it}}
    %a = ws.entry @a slot 0 shift 1 -> i32 {
      ws.yield %n : i32
    }
    // expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of slot 0, shift 1}}
    %b = ws.entry @b slot 1 shift 0 -> i32 {
      ws.yield %a : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c4_carried(%n: i32) {
  %r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
  ^bb0(%j: i32, %old: i32):
    // expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of slot 2, shift 1}}
    %b = ws.entry @b slot 1 shift 0 -> i32 {
      ws.yield %old : i32
    }
    // expected-note @below {{the entry that computes it}}
    %a = ws.entry @a slot 2 shift 1 -> i32 {
      ws.yield %n : i32
    }
    ws.yield %a : i32
  }
  return
}

// -----

func.func @for_c5_arguments(%n: i32) {
  // expected-error @below {{'ws.for' op expected block arguments ('i32', 'i32'), got ('i32')}}
  %r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
  ^bb0(%j: i32):
    ws.yield %j : i32
  }
  return
}

// -----

func.func @for_c5_results(%n: i32) {
  // expected-error @below {{'ws.for' op expected results ('i32'), got ('i64')}}
  %r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i64 {
  ^bb0(%j: i32, %old: i32):
    ws.yield %j : i32
  }
  return
}

// -----

func.func @for_c5_yield(%n: i32) {
  %r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
  ^bb0(%j: i32, %old: i32):
    // expected-error @below {{'ws.yield' op expected to yield ('i32'), got ()}}
    ws.yield
  }
  return
}

// -----

func.func @for_c6(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.entry @a slot 0 shift 0 {
      ws.yield
    }
    ws.entry @w slot 1 shift 0 {
      // expected-error @below {{'ws.await_step' op expected an entry of the loop that holds a 'ws.mma', got @a}}
      ws.await_step @a
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c6_after(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected an entry of the loop that holds a 'ws.mma', got @nothing}}
    ws.entry @a slot 0 shift 0 after [@nothing] {
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @for_c7_skipped(%n: i32) {
  // expected-error @below {{'ws.for' op expected the region 'skipped' where a range is of that kind, and nowhere else, got the range alone}}
  ws.for ranges <down [skipped, full]> bounds(%n, %n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @for_c7_drain(%n: i32) {
  // expected-error @below {{'ws.for' op expected an entry with a shift where there is a region 'drain', got none}}
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  } drain {
    ws.yield
  }
  return
}

// -----

func.func @for_c7(%n: i32) {
  // expected-error @below {{'ws.for' op expected 'skipped', 'drain' and 'empty' without arguments and results, got 0 and 1}}
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  } empty {
    ws.yield %n : i32
  }
  return
}

// -----

func.func @entry_c1(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op attribute 'slot' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
    ws.entry @a slot -1 shift 0 {
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c1_shift(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op attribute 'shift' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
    ws.entry @a slot 0 shift -1 {
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c2_guard(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected guard 'once' or 'last', got 'nonempty'}}
    ws.entry @a slot 0 shift 0 guard nonempty {
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c2_results(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected no results of a guarded entry, got 1}}
    %a = ws.entry @a slot 0 shift 0 guard once -> i32 {
      ws.yield %n : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c3(%n: i32, %m: i64) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected one result of type 'i64' of a masked entry, got ('i32')}}
    %a = ws.entry @a slot 0 shift 0 masked(%m : i64) -> i32 {
      ws.yield %n : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c4(%n: i32, %m: i64) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    %a = ws.entry @a slot 0 shift 0 -> i32 {
      // expected-error @below {{'ws.yield' op expected to yield ('i32'), got ('i64')}}
      ws.yield %m : i64
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c4_terminator(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected the body to end with 'ws.yield', got 'llvm.unreachable'}}
    ws.entry @a slot 0 shift 0 {
      llvm.unreachable
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c5(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.entry @w slot 1 shift 0 {
      // expected-error @below {{'ws.await_step' op expected to be alone in its entry, got 1 other ops}}
      ws.await_step @m
      ws.await_store
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @await_step_parent() {
  // expected-error @below {{'ws.await_step' op expects parent op 'ws.entry'}}
  ws.await_step @m
  return
}

// -----

func.func @copy_c1_rank(%x: tensor<?x?x64xbf16>, %n: i32, %s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.copy' op expected 'source' to have rank 4 and a static last dimension, got 'tensor<?x?x64xbf16>'}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c1_dynamic(%x: tensor<?x?x?x?xbf16>, %n: i32, %s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.copy' op expected 'source' to have rank 4 and a static last dimension, got 'tensor<?x?x?x?xbf16>'}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x?xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c2(%x: tensor<?x?x?x64xbf16>, %n: i32, %s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.copy' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (c, h, i, b)> to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c3(%x: tensor<?x?x?x96xbf16>, %n: i32, %s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.copy' op expected the slot's tile to have the element type and at least the last dimension of 'source', got 'tensor<128x64xbf16>' and 'tensor<?x?x?x96xbf16>'}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x96xbf16>, <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @store_c1(%o: tensor<?x?x64xbf16>, %n: i32) {
  // expected-error @below {{'ws.store' op expected 'dest' to have rank 4 and a static last dimension, got 'tensor<?x?x64xbf16>'}}
  ws.store @h[%n], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x64xbf16>
  return
}

// -----

func.func @store_c2(%o: tensor<?x?x?x64xbf16>, %n: i32) {
  // expected-error @below {{'ws.store' op expected 'map' to be a permutation of 4 dimensions that keeps the last, got affine_map<(d0, d1) -> (d0, d1)>}}
  ws.store @h[%n], %o at(%n, %n, %n) affine_map<(b, h) -> (b, h)> : tensor<?x?x?x64xbf16>
  return
}

// -----

func.func @put_c1(%n: i32) {
  // expected-error @below {{'ws.put' op operand #0 must be ranked tensor of any type values or vector of any type values, but got 'i32'}}
  ws.put %n in @h[%n] : i32
  return
}

// -----

func.func @mma_c1_type(%a: i32, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be a slot, a tile of rank 2 or a vector, got 'i32'}}
  %r, %t = ws.mma %a, %b transpose_b : i32, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c1_rank(%a: tensor<64xbf16>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be a slot, a tile of rank 2 or a vector, got 'tensor<64xbf16>'}}
  %r, %t = ws.mma %a, %b transpose_b : tensor<64xbf16>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c1_piece(%a: tensor<64x64xbf16>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'piece' only with a slot as 'a', got 'tensor<64x64xbf16>'}}
  %r, %t = ws.mma %a piece(%n), %b transpose_b : tensor<64x64xbf16>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c2_result(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected a result of f32, got 'tensor<64x128xbf16>'}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xbf16>
  %d = ws.await %r, %t : tensor<64x128xbf16>
  return
}

// -----

func.func @mma_c2_acc(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32, %x: tensor<64x64xf32>) {
  // expected-error @below {{'ws.mma' op expected 'acc' to have the result's type, got 'tensor<64x64xf32>' and 'tensor<64x128xf32>'}}
  %r, %t = ws.mma %a, %b acc(%x : tensor<64x64xf32>) transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c2_fresh(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %first: i1) {
  // expected-error @below {{'ws.mma' op expected 'fresh' only with 'acc', got no 'acc'}}
  %r, %t = ws.mma %a, %b fresh(%first) transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c3_contracted(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' and 'b' to agree in element type and in the contracted dimension, got 'tensor<64x64xbf16>' and 'tensor<128x64xbf16>'}}
  %r, %t = ws.mma %a, %b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c3_element(%a: !ws.slot<@k, tensor<64x64xf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' and 'b' to agree in element type and in the contracted dimension, got 'tensor<64x64xf16>' and 'tensor<128x64xbf16>'}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c3_result(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected a result of 64 x 128, got 'tensor<64x64xf32>'}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x64xf32>
  %d = ws.await %r, %t : tensor<64x64xf32>
  return
}

// -----

func.func @mma_c3_piece(%a: !ws.slot<@k, tensor<96x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be pieces of 64 rows, got 'tensor<96x64xbf16>'}}
  %r, %t = ws.mma %a piece(%n), %b transpose_b : !ws.slot<@k, tensor<96x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c4_unused(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block, got none}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  return
}

// -----

func.func @mma_c4_twice(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  // expected-note @below {{a use}}
  %d = ws.await %r, %t : tensor<64x128xf32>
  // expected-note @below {{a use}}
  %e = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c4_block(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32, %c: i1) {
  // expected-error @below {{'ws.mma' op expected one use of the token, by a 'ws.await' in the same block}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  scf.if %c {
    // expected-note @below {{a use}}
    %d = ws.await %r, %t : tensor<64x128xf32>
  }
  return
}

// -----

func.func @mma_c4_entry(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    ws.entry @m slot 0 shift 0 {
      %a = ws.wait : <@k, tensor<64x64xbf16>>
      %b = ws.wait : <@k, tensor<128x64xbf16>>
      // expected-error @below {{'ws.mma' op expected no use of the token in a 'ws.entry', where 'attn-pipeline' places the await}}
      %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
      %d = ws.await %r, %t : tensor<64x128xf32>
      ws.yield
    }
    ws.yield
  }
  return
}

// -----

func.func @mma_c5(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected the result to be used by its 'ws.await' alone while in flight}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  // expected-note @below {{used by 'arith.negf'}}
  %x = arith.negf %r : tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @mma_c6(%a: tensor<64x64xbf16>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %n: i32) {
  // expected-error @below {{'ws.mma' op expected 'a' to be used by 'ws.mma' alone while in flight}}
  %r, %t = ws.mma %a, %b transpose_b : tensor<64x64xbf16>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  // expected-note @below {{used by 'arith.negf'}}
  %x = arith.negf %a : tensor<64x64xbf16>
  %d = ws.await %r, %t : tensor<64x128xf32>
  return
}

// -----

func.func @await_c1_token(%v: f32, %t: !ws.token) {
  // expected-error @below {{'ws.await' op expected the token of a 'ws.mma'}}
  %d = ws.await %v, %t : f32
  return
}

// -----

func.func @await_c1_value(%a: !ws.slot<@k, tensor<64x64xbf16>>, %b: !ws.slot<@k, tensor<128x64xbf16>>, %v: tensor<64x128xf32>) {
  // expected-note @below {{the 'ws.mma'}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  // expected-error @below {{'ws.await' op expected the result of the 'ws.mma' whose token it takes}}
  %d = ws.await %v, %t : tensor<64x128xf32>
  return
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @channel_c2_work_and_tiles machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, or tensor<4xi32> alone for work items, got 'tensor<4xi32>'}}
  ws.channel @k [tensor<4xi32>, tensor<8x8xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

func.func @put_work_c1(%w: !tile.work, %s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.put_work' op expected a slot of work items, got '!ws.slot<@k, tensor<128x64xbf16>>'}}
  ws.put_work %w to %s : <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @get_work_c1(%s: !ws.slot<@k, tensor<128x64xbf16>>) {
  // expected-error @below {{'ws.get_work' op expected a slot of work items, got '!ws.slot<@k, tensor<128x64xbf16>>'}}
  %w = ws.get_work %s : <@k, tensor<128x64xbf16>>
  return
}

// -----

func.func @copy_c3_work(%x: tensor<?x?x?x64xbf16>, %n: i32, %s: !ws.slot<@work, tensor<4xi32>>) {
  // expected-error @below {{'ws.copy' op expected the slot's tile to have the element type and at least the last dimension of 'source', got 'tensor<4xi32>' and 'tensor<?x?x?x64xbf16>'}}
  ws.copy %x at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %s : tensor<?x?x?x64xbf16>, <@work, tensor<4xi32>>
  return
}

// -----

func.func @mma_c1_work(%a: vector<4xi32>, %s: !ws.slot<@work, tensor<4xi32>>) {
  // expected-error @below {{'ws.mma' op expected 'b' to be a slot of tiles, got '!ws.slot<@work, tensor<4xi32>>'}}
  %r, %t = ws.mma %a, %s : vector<4xi32>, <@work, tensor<4xi32>> -> vector<4xf32>
  return
}

// -----

func.func @end_outside(%w: !tile.work) {
  // expected-error @below {{'ws.end_unless_work' op expects parent op 'ws.work_loop'}}
  ws.end_unless_work %w
  return
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Each of two roles would take items, and get others.
ws.kernel @kernel_c9_two machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{the other 'ws.take_item'}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
  ws.role @b warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected one 'ws.take_item' in a kernel, got another before}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c9_grid machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected to be an op of a 'ws.work_loop' with work 'dynamic', got one of a 'ws.work_loop' with work 'grid'}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c9_nested machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      scf.if %no {
        // expected-error @below {{'ws.take_item' op expected to be an op of a 'ws.work_loop' with work 'dynamic', got one of a 'scf.if' with work 'dynamic'}}
        %w = ws.take_item extents(%n, %n, %n)
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// Each CTA would take items, and the second its first one for ever.
ws.kernel @kernel_c9_cluster machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected a 'ws.share_work' around it where 'cluster' is 2, got none}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The other roles would take the parts of an item for whole items.
ws.kernel @kernel_c9_parts machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected no 'cut' where 'last_wave_parts' is 1, got one}}
      %w = ws.take_item extents(%n, %n, %n) cut(%n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c9_whole machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected a 'cut' where 'last_wave_parts' is 4, got none}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c9_warps machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected one thread to hand out items, got role 'a' of 1 x 4 warps}}
      %w = ws.take_item extents(%n, %n, %n)
      %row = arith.constant dense<0.0> : vector<1xf32>
      tile.store_row %row, %lse at(%n, %n, %n) : vector<1xf32>, tensor<?x?x?xf32>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c9_replicas machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected one thread to hand out items, got role 'a' of 2 x 4 warps}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c10_nested machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      scf.if %no {
        // expected-error @below {{'tile.reject' op expected to be an op of a 'ws.work_loop', got one of a 'scf.if'}}
        tile.reject %w if %no
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c11_verdict machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-note @below {{declared here}}
  ws.edge @e credits 0
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.second_run' op expected @e to be a 'ws.verdict' of the kernel, got a 'ws.edge'}}
      ws.second_run of %w by @e
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c11_mailbox machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-note @below {{declared here}}
  ws.edge @e credits 0
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.share_work' op expected @e to be a 'ws.mailbox' of the kernel, got a 'ws.edge'}}
      %w = ws.share_work through @e {
        %x = ws.take_item extents(%n, %n, %n)
        ws.yield %x : !tile.work
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c11_two machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @x
  // expected-error @below {{'ws.verdict' op expected at most one 'ws.verdict' in a kernel, got another before}}
  ws.verdict @y
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c13_static machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = static> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-error @below {{'ws.verdict' op expected work 'grid' or 'dynamic', got 'static'}}
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// This role would not run the item a second time.
ws.kernel @kernel_c13_not_taken machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op expected to end with a 'ws.second_run' where items may be rejected, got none}}
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.give_verdict @v on %w rejected %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// The item that was rejected would never come again.
ws.kernel @kernel_c13_not_chosen machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected a 'ws.choose_item' alone to use the item where items may be rejected}}
      %w = ws.take_item extents(%n, %n, %n)
      ws.give_verdict @v on %w rejected %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c13_dynamic machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.second_run' op expected work 'grid', got 'dynamic'}}
      ws.second_run of %w by @v
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c14_one_cta machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-error @below {{'ws.mailbox' op expected work 'dynamic' in a cluster, got work 'dynamic' and a cluster of 1}}
  ws.mailbox @m
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c18_missing machine "sm_90a" args ["o" write, "n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      tile.reject %w if %no
      // expected-error @below {{'ws.store' op expected 'after_first_run' where items may be rejected, got none}}
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> : tensor<?x?x?x64xbf16>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @kernel_c18_idle machine "sm_90a" args ["o" write, "n", "no"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.store' op expected no 'after_first_run' where no item may be rejected, got one}}
      ws.store @h[%me], %o at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> after_first_run %w : tensor<?x?x?x64xbf16>
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @work_loop_c1 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.second_run' op expected to be the last op of the item, got a 'tile.reject' after it}}
      ws.second_run of %w by @v
      tile.reject %w if %no
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// One question too many: also in the turn that has no item.
ws.kernel @work_loop_c2 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.take_item extents(%n, %n, %n)
      scf.if %no {
        // expected-error @below {{'ws.fetch_work' op expected to come behind the 'ws.end_unless_work' of its turn, got one before it}}
        ws.fetch_work after %w
      }
      ws.end_unless_work %w
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @choose_item_c1 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.choose_item' op expected the item of a 'ws.take_item' in its block, got that of 'tile.next_work'}}
      %x = ws.choose_item %w by @v
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @choose_item_c1_used machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.take_item extents(%n, %n, %n)
      // expected-error @below {{'ws.choose_item' op expected no other use of the item of 'ws.take_item', which a rejected one may come before}}
      %x = ws.choose_item %w by @v
      ws.end_unless_work %w
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @fetch_work_c1 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.channel @work [tensor<4xi32>] depth 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@work, tensor<4xi32>>
      %w = ws.get_work %s : <@work, tensor<4xi32>>
      // expected-error @below {{'ws.fetch_work' op expected the item that its role takes, got that of 'ws.get_work'}}
      ws.fetch_work after %w
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @share_work_c1 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.mailbox @m
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.share_work' op expected to yield the work item that was taken last}}
      %w = ws.share_work through @m {
        %x = ws.take_item extents(%n, %n, %n)
        ws.yield %n : i32
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @share_work_c1_computed machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.mailbox @m
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.share_work through @m {
        // expected-error @below {{'tile.next_work' op expected a 'ws.take_item', then at most one 'ws.choose_item', in a 'ws.share_work'}}
        %x = tile.next_work extents(%n, %n, %n)
        ws.yield %x : !tile.work
      }
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @stamps_c1_events machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{attribute 'events' failed to satisfy constraint}}
  ws.stamps events 0 ctas 4
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @stamps_c1_ctas machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{attribute 'ctas' failed to satisfy constraint}}
  ws.stamps events 1 ctas 65
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
ws.kernel @stamp_c1_none machine "sm_90a" args [] problem #p config #c schedule #s {
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.stamp' op expected one 'ws.stamps' in the kernel, got 0}}
    ws.stamp run
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
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

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
// What is known of the item besides its place would be lost.
ws.kernel @put_work_c2 machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.channel @one [tensor<4xi32>] depth 1
  ws.channel @two [tensor<4xi32>] depth 1
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@one, tensor<4xi32>>
      %w = ws.get_work %s : <@one, tensor<4xi32>>
      %t = ws.acquire : <@two, tensor<4xi32>>
      // expected-error @below {{'ws.put_work' op expected the item that its role takes, got that of 'ws.get_work'}}
      ws.put_work %w to %t : <@two, tensor<4xi32>>
    }
  }
}
