// What attn-lower-channels requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-lower-channels -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// expected-error @below {{'ws.kernel' op attn-lower-channels: expected planned shared memory, got none}}
ws.kernel @not_planned machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<4xi32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-channels: expected at most 16 named barriers, got 17}}
ws.kernel @named_barriers machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.turn @t ring @wg
  ws.turn @u ring @wg
  ws.role @wg warps 4 regs 24 replicas 8 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<4xi32>
  }
}

// -----

ws.kernel @wide_producer machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
  ws.role @load warps 1 regs 24 replicas 2 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.acquire' op attn-lower-channels: expected one thread to fill @k, got role 'load' of 2 x 1 warps}}
    %s = ws.acquire : <@k, tensor<128x64xbf16>>
    ws.copy %q at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  }
}

// -----

// A slot `with` another is that of the cycle that the role has entered there.
ws.kernel @with_nothing machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 49152 {
^bb0(%n: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 2 at 0
  ws.channel @l [tensor<64xf32>] depth 2 free_implied with @q at 16384
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %q = ws.wait : <@q, tensor<64x64xbf16>>
    %l = ws.wait : <@l, tensor<64xf32>>
    // expected-error @below {{'ws.wait' op attn-lower-channels: expected a 'ws.wait' of @q before it, for the same cycle, got none}}
    %again = ws.wait : <@l, tensor<64xf32>>
  }
}

// -----

// The warps that overwrite an operand meet, on a barrier for each replica.
// expected-error @below {{'ws.kernel' op attn-lower-channels: expected at most 16 named barriers, got 17}}
ws.kernel @named_barriers_of_operands machine "sm_90a" args ["n", "once"] problem #p config #c schedule #s smem 49152 {
^bb0(%n: i32, %once: i1):
  ws.channel @v [tensor<32x64xbf16>] depth 1 at 0
  ws.hold @p tensor<64x32xbf16> pieces 8 at 8192
  ws.turn @t ring @wg
  ws.role @wg warps 4 regs 24 replicas 8 {
  ^bb0(%me: i32):
    %tile = arith.constant dense<0> : vector<8xi32>
    %v = ws.wait : <@v, tensor<32x64xbf16>>
    ws.put %tile in @p[%me] : vector<8xi32>
    %p = ws.held @p[%me] : <@p, tensor<64x32xbf16>>
    %o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
    %d = ws.await %o, %t : vector<32xf32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-channels: no lowering for machine 'sm_100a'}}
ws.kernel @other_machine machine "sm_100a" args ["n"] problem #p config #c schedule <"s" machine "sm_100a" { role wg warps 4 regs 240 }> smem 0 {
^bb0(%n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// =====

ws.kernel @case machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
...
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// no_place
// expected-error @below {{'ws.channel' op attn-lower-channels: expected a place in shared memory, got none}}
ws.channel @k [tensor<128x64xbf16>] depth 2
...
%v = arith.constant dense<0> : vector<4xi32>

// -----

// loop
%n32 = arith.constant 1 : i32
// expected-error @below {{'ws.for' op attn-lower-channels: expected the loop to be expanded}}
ws.for ranges <down [full]> bounds(%n32, %n32) init() : () -> () {
^bb0(%j: i32):
  ws.yield
}

// -----

// twice
// expected-error @below {{'ws.setup' op attn-lower-channels: expected channels without barriers}}
ws.setup {
}
...
%v = arith.constant dense<0> : vector<4xi32>

// -----

// credits
// expected-error @below {{'ws.edge' op attn-lower-channels: expected at most 1 credit, got 2}}
ws.edge @e credits 2
...
%v = arith.constant dense<0> : vector<4xi32>

// -----

// selected_slot
ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
...
%c = arith.constant true
%k = ws.wait : <@k, tensor<128x64xbf16>>
// expected-error @below {{'arith.select' op attn-lower-channels: no lowering for a slot that 'arith.select' makes}}
%s = arith.select %c, %k, %k : !ws.slot<@k, tensor<128x64xbf16>>

// -----

// await_without_store
ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
...
%v = arith.constant dense<0> : vector<4xi32>
ws.put %v in @h[%me] : vector<4xi32>
// expected-error @below {{'ws.await_store' op attn-lower-channels: expected a 'ws.store' in role 'wg', got none}}
ws.await_store

// =====

// A role of one thread.
ws.kernel @case machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
...
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// copy_slot
ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
...
%s = ws.wait : <@k, tensor<128x64xbf16>>
// expected-error @below {{'ws.copy' op attn-lower-channels: expected a slot that 'ws.acquire' gives, got another}}
ws.copy %q at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>

// -----

// two_producers
ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
...
  %s = ws.acquire : <@k, tensor<128x64xbf16>>
  ws.copy %q at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
}
ws.role @more warps 1 regs 24 replicas 1 {
^bb0(%me: i32):
  // expected-error @below {{'ws.acquire' op attn-lower-channels: expected one role to fill @k, got 'load' and 'more'}}
  %s = ws.acquire : <@k, tensor<128x64xbf16>>
  ws.copy %q at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>

// -----

// one_thread_turn
ws.turn @t ring @load
...
// expected-error @below {{'ws.take' op attn-lower-channels: no lowering in role 'load', which one thread runs}}
ws.take @t[%me]

// =====

// A role of one thread that stores tiles of other roles.
ws.kernel @case machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 49152 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
...
  ws.role @store warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.store @h[%me], %o at(%me, %me, %me) #bshd : tensor<?x?x?x64xbf16>
    ws.await_store
...
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<8xi32>
    ws.put %v in @h[%me] : vector<8xi32>
  }
}

// -----

// one_thread_gives
ws.turn @t ring @store
...
// expected-error @below {{'ws.give' op attn-lower-channels: no lowering in role 'store', which one thread runs}}
ws.give @t[%me]

// -----

// one_thread_meets
ws.rendezvous @r ring @store
...
// expected-error @below {{'ws.sync' op attn-lower-channels: no lowering in role 'store', which one thread runs}}
ws.sync @r

// =====

// A product that reads shared memory.
ws.kernel @case machine "sm_90a" args ["n", "once"] problem #p config #c schedule #s smem 49152 {
^bb0(%n: i32, %once: i1):
  ws.channel @v [tensor<32x64xbf16>] depth 1 at 0
...
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %tile = arith.constant dense<0> : vector<8xi32>
    %v = ws.wait : <@v, tensor<32x64xbf16>>
    %p = ws.held @p[%me] : <@p, tensor<64x32xbf16>>
...
    %d = ws.await %o, %t : vector<32xf32>
  }
}

// -----

// overwritten_in_flight
ws.hold @p tensor<64x32xbf16> pieces 1 at 32768
...
// expected-note @below {{the 'ws.mma'}}
%o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
scf.if %once {
  // expected-error @below {{'ws.put' op attn-lower-channels: expected the 'ws.mma' that reads there to be awaited before @p is written, got one in flight}}
  ws.put %tile in @p[%me] : vector<8xi32>
}

// -----

// host_overwritten_in_flight
ws.hold @p tensor<64x32xbf16> pieces 1 at 32768
ws.hold @oe tensor<32x64xbf16> pieces 1 over @v at 0
...
// expected-note @below {{the 'ws.mma'}}
%o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
// expected-error @below {{'ws.put' op attn-lower-channels: expected the 'ws.mma' that reads there to be awaited before @oe is written, got one in flight}}
ws.put %tile in @oe[%me] : vector<8xi32>

// -----

// overwritten_by_third_name
// A place over a place that is over a third one shares the memory of all three.
ws.hold @p tensor<64x32xbf16> pieces 1 at 32768
ws.hold @between tensor<32x64xbf16> pieces 1 over @v at 0
ws.hold @oe tensor<32x64xbf16> pieces 1 over @between at 0
...
// expected-note @below {{the 'ws.mma'}}
%o, %t = ws.mma %p, %v : !ws.slot<@p, tensor<64x32xbf16>>, <@v, tensor<32x64xbf16>> -> vector<32xf32>
// expected-error @below {{'ws.put' op attn-lower-channels: expected the 'ws.mma' that reads there to be awaited before @oe is written, got one in flight}}
ws.put %tile in @oe[%me] : vector<8xi32>
