// Constraints of a kernel, its declarations and its roles, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>

// -----

// expected-error @below {{expected a static 16-bit tile of rank 2, a row vector of f32, or tensor<4xi32> for a work item, got 'tensor<128xbf16>'}}
func.func private @slot_c1_rank(!ws.slot<@k, tensor<128xbf16>>)

// -----

// expected-error @below {{expected a static 16-bit tile of rank 2, a row vector of f32, or tensor<4xi32> for a work item, got 'tensor<8x8xindex>'}}
func.func private @slot_c1_element(!ws.slot<@k, tensor<8x8xindex>>)

// -----

// expected-error @below {{'ws.kernel' op expected 1 'args', got 2}}
ws.kernel @kernel_c1 machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.kernel' op expected at least one role, got none}}
ws.kernel @kernel_c2 machine "sm_90a" args [] problem #p config #c schedule #s {
}

// -----

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

ws.kernel @kernel_c5_reduce_add machine "sm_90a" args ["o" accumulate] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x96xf32>):
  ws.hold @h tensor<64x64xf32> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.reduce_add' op expected 'dest' to have the element type and the columns of @h, 'tensor<64x64xf32>', got 'tensor<?x?x?x96xf32>'}}
    ws.reduce_add @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, h, i, c)> : tensor<?x?x?x96xf32>
  }
}

// -----

ws.kernel @kernel_c5_reduce_add_wider machine "sm_90a" args ["o" accumulate] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x48xf32>):
  ws.hold @h tensor<64x64xf32> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.reduce_add' op expected 'dest' to have the element type and the columns of @h, 'tensor<64x64xf32>', got 'tensor<?x?x?x48xf32>'}}
    ws.reduce_add @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, h, i, c)> : tensor<?x?x?x48xf32>
  }
}

// -----

ws.kernel @kernel_reduce_add_c4 machine "sm_90a" args ["o" accumulate] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x64xf32>):
  ws.hold @h tensor<64x64xf32> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.reduce_add' op expected 'transposed' only where one thread adds what another role puts, got it in the role that puts @h}}
    ws.reduce_add @h[%me], %o at(%me, %me, %me) affine_map<(b, h, i, c) -> (b, h, i, c)> transposed : tensor<?x?x?x64xf32>
  }
}

// -----

// expected-error @below {{'ws.channel' op expects parent op 'ws.kernel'}}
ws.channel @channel_parent [tensor<128x64xbf16>] depth 1

// -----

ws.kernel @role_c1 machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op expected one block argument of type i32, got ('i32', 'i64')}}
  ws.role @wg warps 4 regs 24 replicas 1 {
  ^bb0(%me: i32, %x: i64):
  }
}

// -----

ws.kernel @role_c2_warps machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'warps' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.role @wg warps 0 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @role_c2_replicas machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'replicas' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  ws.role @wg warps 4 regs 24 replicas 0 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @role_c2_regs machine "sm_90a" args [] problem #p config #c schedule #s {
  // expected-error @below {{'ws.role' op attribute 'regs' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  ws.role @wg warps 4 regs -8 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @channel_c3_other machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected @q to be a 'ws.channel' of the kernel, got no such symbol}}
  ws.channel @l [tensor<64xf32>] depth 2 free_implied with @q
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @channel_c3_depth machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 2
  // expected-error @below {{'ws.channel' op expected row vectors, 'free_implied' and the depth of a channel with barriers of its own, got [tensor<64xf32>] of depth 1 without 'free_implied' with @q of depth 2}}
  ws.channel @l [tensor<64xf32>] depth 1 with @q
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @channel_c3_chain machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 2
  ws.channel @l [tensor<64xf32>] depth 2 free_implied with @q
  // expected-error @below {{'ws.channel' op expected row vectors, 'free_implied' and the depth of a channel with barriers of its own, got [tensor<64xf32>] of depth 2 with @l of depth 2}}
  ws.channel @r [tensor<64xf32>] depth 2 free_implied with @l
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @channel_c2_work_and_tiles machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, row vectors of f32 alone, or tensor<4xi32> alone for work items, got 'tensor<4xi32>'}}
  ws.channel @k [tensor<4xi32>, tensor<8x8xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// =====

// A declaration of a kernel.
ws.kernel @case machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
...
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
  }
}

// -----

// kernel_c3
// expected-error @below {{'ws.acquire' op expected only declarations, roles and pure scalar ops in 'ws.kernel'}}
%s = ws.acquire : <@k, tensor<128x64xbf16>>

// -----

// kernel_c7_turn
// expected-error @below {{'ws.turn' op expected @x to be a 'ws.role' of the kernel, got no such symbol}}
ws.turn @t ring @x

// -----

// kernel_c7_rendezvous
// expected-note @below {{declared here}}
ws.edge @e credits 0
// expected-error @below {{'ws.rendezvous' op expected @e to be a 'ws.role' of the kernel, got a 'ws.edge'}}
ws.rendezvous @r ring @e

// -----

// kernel_c8_itself
// expected-error @below {{'ws.channel' op expected to be over another channel or hold of the kernel, got @k}}
ws.channel @k [tensor<128x64xbf16>] depth 2 over @k

// -----

// kernel_c8_kind
ws.edge @e credits 0
// expected-error @below {{'ws.hold' op expected to be over another channel or hold of the kernel, got @e}}
ws.hold @h tensor<64x64xbf16> pieces 1 over @e

// -----

// channel_c1_depth
// expected-error @below {{'ws.channel' op attribute 'depth' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
ws.channel @k [tensor<128x64xbf16>] depth 0

// -----

// channel_c1_offset
// expected-error @below {{'ws.channel' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
ws.channel @k [tensor<128x64xbf16>] depth 1 at -8

// -----

// channel_c2_none
// expected-error @below {{'ws.channel' op attribute 'types' failed to satisfy constraint: type array attribute with at least 1 elements}}
ws.channel @k [] depth 1

// -----

// channel_c2_width
// expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, row vectors of f32 alone, or tensor<4xi32> alone for work items, got 'tensor<128x64xf32>'}}
ws.channel @k [tensor<128x64xf32>] depth 1

// -----

// channel_c2_index
// expected-error @below {{'ws.channel' op expected static 16-bit tiles of rank 2, row vectors of f32 alone, or tensor<4xi32> alone for work items, got 'tensor<8x8xindex>'}}
ws.channel @k [tensor<8x8xindex>] depth 1

// -----

// hold_c1
// expected-error @below {{'ws.hold' op attribute 'pieces' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
ws.hold @h tensor<64x64xbf16> pieces 0

// -----

// hold_c2
// expected-error @below {{'ws.hold' op attribute 'type' failed to satisfy constraint: type attribute of static tile of rank 2, of 16-bit elements or f32}}
ws.hold @h tensor<?x64xbf16> pieces 1

// -----

// edge_c1
// expected-error @below {{'ws.edge' op attribute 'credits' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
ws.edge @e credits -1

// =====

// A declaration, and an op of a role that names it.
ws.kernel @case machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
...
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
...
  }
}

// -----

// kernel_c4_undeclared
// expected-error @below {{'ws.acquire' op expected @k to be a 'ws.channel' of the kernel, got no such symbol}}
%s = ws.acquire : <@k, tensor<128x64xbf16>>

// -----

// kernel_c4_kind
// expected-note @below {{declared here}}
ws.edge @k credits 0
...
// expected-error @below {{'ws.wait' op expected @k to be a 'ws.channel' of the kernel, got a 'ws.edge'}}
%s = ws.wait : <@k, tensor<128x64xbf16>>

// -----

// kernel_c4_tile
// expected-note @below {{the channel carries [tensor<128x64xbf16>]}}
ws.channel @k [tensor<128x64xbf16>] depth 2
...
// expected-error @below {{'ws.wait' op expected a tile that @k carries, got 'tensor<64x64xbf16>'}}
%s = ws.wait : <@k, tensor<64x64xbf16>>

// -----

// kernel_c5_put
ws.channel @k [tensor<128x64xbf16>] depth 2
...
%t = arith.constant dense<0> : vector<4xi32>
// expected-error @below {{'ws.put' op expected @h to be a 'ws.hold' of the kernel, got no such symbol}}
ws.put %t in @h[%me] : vector<4xi32>

// -----

// kernel_c5_type
ws.hold @h tensor<64x64xbf16> pieces 2
...
%t = arith.constant dense<0.0> : tensor<64x32xbf16>
// expected-error @below {{'ws.put' op expected a tile of the type of @h, 'tensor<64x64xbf16>', got 'tensor<64x32xbf16>'}}
ws.put %t in @h[%me] : tensor<64x32xbf16>

// -----

// kernel_c6_turn
// expected-note @below {{declared here}}
ws.edge @e credits 0
...
// expected-error @below {{'ws.take' op expected @e to be a 'ws.turn' of the kernel, got a 'ws.edge'}}
ws.take @e[%me]

// -----

// kernel_c6_give
// expected-error @below {{'ws.give' op expected @t to be a 'ws.turn' of the kernel, got no such symbol}}
ws.give @t[%me]

// -----

// kernel_c6_edge
// expected-error @below {{'ws.signal' op expected @e to be a 'ws.edge' of the kernel, got no such symbol}}
ws.signal @e

// -----

// kernel_c6_wait_edge
// expected-error @below {{'ws.wait_edge' op expected @e to be a 'ws.edge' of the kernel, got no such symbol}}
ws.wait_edge @e

// -----

// kernel_c6_sync
// expected-error @below {{'ws.sync' op expected @r to be a 'ws.rendezvous' of the kernel, got no such symbol}}
ws.sync @r

// -----

// kernel_c6_ring
ws.turn @t ring @wg
...
}
ws.role @other warps 1 regs 24 replicas 1 {
^bb0(%me: i32):
  // expected-error @below {{'ws.take' op expected to be in role @wg, the ring of @t, got role @other}}
  ws.take @t[%me]
