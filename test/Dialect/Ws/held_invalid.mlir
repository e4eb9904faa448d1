// RUN: %cases %s | attn-opt --split-input-file --verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg[2] warps 4 regs 240 }>

// -----

ws.kernel @held_c1 machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<32x64xbf16>] depth 1
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.held' op expected a slot of @p, got '!ws.slot<@v, tensor<32x64xbf16>>'}}
    %p = ws.held @p[%me] : <@v, tensor<32x64xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_held machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<32x64xbf16>] depth 1
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.held' op expected the tile of @p, 'tensor<64x32xbf16>', got 'tensor<64x64xbf16>'}}
    %p = ws.held @p[%me] : <@p, tensor<64x64xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_held_channel machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{declared here}}
  ws.channel @v [tensor<32x64xbf16>] depth 1
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.held' op expected @v to be a 'ws.hold' of the kernel, got a 'ws.channel'}}
    %p = ws.held @v[%me] : <@v, tensor<32x64xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_wait_hold machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<32x64xbf16>] depth 1
  // expected-note @below {{declared here}}
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.wait' op expected @p to be a 'ws.channel' of the kernel, got a 'ws.hold'}}
    %p = ws.wait : <@p, tensor<64x32xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_release_held machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  // expected-note @below {{declared here}}
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %p = ws.held @p[%me] : <@p, tensor<64x32xbf16>>
    // expected-error @below {{'ws.release' op expected @p to be a 'ws.channel' of the kernel, got a 'ws.hold'}}
    ws.release %p : <@p, tensor<64x32xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_copy_to_held machine "sm_90a" args ["k", "n"] problem #p config #c schedule #s {
^bb0(%k: tensor<?x?x?x64xbf16>, %n: i32):
  // expected-note @below {{declared here}}
  ws.hold @p tensor<64x64xbf16> pieces 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %p = ws.held @p[%me] : <@p, tensor<64x64xbf16>>
    // expected-error @below {{'ws.copy' op expected @p to be a 'ws.channel' of the kernel, got a 'ws.hold'}}
    ws.copy %k at(%n, %n, %n) affine_map<(b, h, i, c) -> (b, i, h, c)> to %p : tensor<?x?x?x64xbf16>, <@p, tensor<64x64xbf16>>
  }
}

// -----

ws.kernel @kernel_c4_held_whole machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.hold @p tensor<64x32xbf16> pieces 2
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.held' op expected the tile of @p, 'tensor<128x32xbf16>', got 'tensor<64x32xbf16>'}}
    %p = ws.held @p : <@p, tensor<64x32xbf16>>
  }
}

// -----

ws.kernel @mma_c1_transposed_tile machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<64x64xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %x = arith.constant dense<0.0> : tensor<64x64xbf16>
    %v = ws.wait : <@v, tensor<64x64xbf16>>
    // expected-error @below {{'ws.mma' op expected 'transpose_a' only with a slot as 'a', got 'tensor<64x64xbf16>'}}
    %o, %t = ws.mma %x, %v transpose_a : tensor<64x64xbf16>, <@v, tensor<64x64xbf16>> -> tensor<64x64xf32>
    %d = ws.await %o, %t : tensor<64x64xf32>
  }
}

// -----

ws.kernel @mma_c3_transposed_piece machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<64x96xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = ws.wait : <@v, tensor<64x96xbf16>>
    // expected-error @below {{'ws.mma' op expected 'a' to be pieces of 64 columns, got 'tensor<64x96xbf16>'}}
    %o, %t = ws.mma %v piece(%me), %v transpose_a : !ws.slot<@v, tensor<64x96xbf16>>, <@v, tensor<64x96xbf16>> -> tensor<64x96xf32>
    %d = ws.await %o, %t : tensor<64x96xf32>
  }
}

// -----

ws.kernel @mma_c1_columns machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<64x64xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = ws.wait : <@v, tensor<64x64xbf16>>
    // expected-error @below {{'ws.mma' op expected 'columns' without 'transpose_b'}}
    %o, %t = ws.mma %v, %v columns(%me) transpose_b : !ws.slot<@v, tensor<64x64xbf16>>, <@v, tensor<64x64xbf16>> -> tensor<64x32xf32>
    %d = ws.await %o, %t : tensor<64x32xf32>
  }
}

// -----

ws.kernel @mma_c3_columns machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.channel @v [tensor<64x64xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = ws.wait : <@v, tensor<64x64xbf16>>
    // expected-error @below {{'ws.mma' op expected a result of 64 x 64, got 'tensor<64x24xf32>'}}
    %o, %t = ws.mma %v, %v columns(%me) : !ws.slot<@v, tensor<64x64xbf16>>, <@v, tensor<64x64xbf16>> -> tensor<64x24xf32>
    %d = ws.await %o, %t : tensor<64x24xf32>
  }
}
