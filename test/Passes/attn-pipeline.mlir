// attn-pipeline: prologue, a masked and a full steady loop, epilogue; awaits before the first touch, releases after the last read.
// RUN: attn-opt %s --attn-pipeline | FileCheck %s
// RUN: attn-opt %s --attn-pipeline --remark-policy=all --remarks-filter-passed=attn -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// Expanded loops are left alone.
// RUN: attn-opt %s --attn-pipeline --attn-pipeline | FileCheck %s

// REMARK: [Passed] pipeline | Category:attn | {{.*}}role 'load': 2 copies of the loop's body, shifts 0 to 0
// REMARK: [Passed] pipeline | Category:attn | {{.*}}role 'wg': 4 copies of the loop's body, shifts 0 to 1

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 knob peel first_masked }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
!tile = tensor<128x64xbf16>
!slot_k = !ws.slot<@k, tensor<128x64xbf16>>
!s = tensor<64x128xf32>
!l = tensor<64xf32>

ws.kernel @small machine "sm_90a" args ["q", "k", "n", "hi", "mid", "lo"] problem #p config #c schedule #s smem 65536 {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %n: i32, %hi: i32, %mid: i32, %lo: i32):
  ws.channel @q [!tile] depth 1 at 0
  ws.channel @k [!tile] depth 2 at 16384
  ws.turn @tc ring @wg
  // CHECK: ^bb0(%[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[N:.*]]: i32, %[[HI:.*]]: i32, %[[MID:.*]]: i32, %[[LO:.*]]: i32):

  // Blocks lo .. hi - 1 are loaded downward. Q is loaded once: with the first
  // block, or alone if there is none.
  // CHECK: ws.role @load
  // CHECK: %[[TRIPS:.*]] = arith.subi %[[HI]], %[[LO]]
  // CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[TRIPS]], %c0
  // CHECK-NEXT: scf.if %[[SOME]] {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : i32
  // CHECK: %[[LAST:.*]] = arith.addi %[[HI]], %[[MINUS]]
  // CHECK-NEXT: %[[FIRST:.*]] = arith.subi %[[LAST]], %[[ZERO]]
  // CHECK-NEXT: ws.acquire : <@k
  // CHECK-NEXT: ws.copy %[[K]] at(%[[N]], %[[N]], %[[FIRST]])
  // CHECK-NEXT: ws.acquire : <@q
  // CHECK-NEXT: ws.copy %[[Q]]
  // CHECK: scf.for %[[I:.*]] = %[[ONE]] to %[[TRIPS]] step %{{.*}} : i32 {
  // CHECK: %[[LAST:.*]] = arith.addi %[[HI]], %{{.*}}
  // CHECK-NEXT: %[[BLOCK:.*]] = arith.subi %[[LAST]], %[[I]]
  // CHECK-NEXT: ws.acquire : <@k
  // CHECK-NEXT: ws.copy %[[K]] at(%[[N]], %[[N]], %[[BLOCK]])
  // CHECK-NEXT: }
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ws.acquire : <@q
  // CHECK-NEXT: ws.copy %[[Q]]
  // CHECK-NEXT: }
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init() : () -> () {
    ^bb0(%j: i32):
      ws.entry @ld_k issue 0 shift 0 {
        %to = ws.acquire : <@k, !tile>
        ws.copy %k at(%n, %n, %j) #bshd shared to %to : tensor<?x?x?x64xbf16>, <@k, !tile>
        ws.yield
      }
      ws.entry @ld_q issue 1 shift 0 guard once {
        %to = ws.acquire : <@q, !tile>
        ws.copy %q at(%n, %n, %n) #bshd to %to : tensor<?x?x?x64xbf16>, <@q, !tile>
        ws.yield
      }
      ws.yield
    } empty {
      %to = ws.acquire : <@q, !tile>
      ws.copy %q at(%n, %n, %n) #bshd to %to : tensor<?x?x?x64xbf16>, <@q, !tile>
      ws.yield
    }
  }

  // CHECK: ws.role @wg
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: i32):
  // CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
  // CHECK: %[[SLOT_Q:.*]] = ws.wait : <@q
  // CHECK: %[[TRIPS:.*]] = arith.subi %[[HI]], %[[LO]]
  // CHECK: %[[SUM:.*]] = scf.if

  // The first block, masked: the values that the sum of the next time step
  // reads.
  // CHECK: ws.take @tc[%[[ME]]]
  // CHECK-NEXT: %[[SLOT:.*]] = ws.wait : <@k
  // CHECK-NEXT: %[[R:.*]], %[[T:.*]] = ws.mma %[[SLOT_Q]] piece(%[[ME]]), %[[SLOT]]
  // CHECK-NEXT: ws.give @tc[%[[ME]]]
  // CHECK-NEXT: %[[S:.*]] = ws.await %[[R]], %[[T]]
  // CHECK-NEXT: ws.release %[[SLOT]]
  // CHECK: %[[BLOCK:.*]] = arith.subi
  // CHECK-NEXT: %[[AT:.*]] = tile.coords %[[BLOCK]] dim 0
  // CHECK: %[[MASKED:.*]] = arith.addf %[[S]],

  // hi - mid blocks are masked, at least the first one and at most all.
  // CHECK: %[[COUNT:.*]] = arith.subi %[[HI]], %[[MID]]
  // CHECK: %[[OVER:.*]] = arith.addi %[[COUNT]], %c0
  // CHECK-NEXT: %[[MOST:.*]] = arith.minsi %[[OVER]], %[[TRIPS]]
  // CHECK-NEXT: %[[END:.*]] = arith.maxsi %[[MOST]], %c1

  // CHECK: %[[LOOP:.*]]:2 = scf.for %[[I:.*]] = %c1{{.*}} to %[[END]] step %{{.*}} iter_args(%[[OLD:.*]] = %[[MASKED]], %[[L:.*]] = %[[NONE]])
  // CHECK-NEXT: ws.take
  // CHECK-NEXT: %[[SLOT:.*]] = ws.wait : <@k
  // CHECK-NEXT: %[[R:.*]], %[[T:.*]] = ws.mma %[[SLOT_Q]] piece(%[[ME]]), %[[SLOT]]
  // CHECK-NEXT: ws.give
  // CHECK-NEXT: %[[S:.*]] = ws.await %[[R]], %[[T]]
  // CHECK-NEXT: ws.release %[[SLOT]]
  // CHECK: tile.coords
  // CHECK: %[[MASKED:.*]] = arith.addf %[[S]],
  // CHECK-NEXT: %[[R:.*]] = tile.reduce add %[[OLD]] dim 1
  // CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[L]], %[[R]]
  // CHECK-NEXT: scf.yield %[[MASKED]], %[[NEW]]

  // Nothing touches the product in the full loop: it is awaited last.
  // CHECK: %[[FULL:.*]]:2 = scf.for %{{.*}} = %[[END]] to %[[TRIPS]] step %{{.*}} iter_args(%[[OLD:.*]] = %[[LOOP]]#0, %[[L:.*]] = %[[LOOP]]#1)
  // CHECK-NEXT: ws.take
  // CHECK-NEXT: %[[SLOT:.*]] = ws.wait : <@k
  // CHECK-NEXT: %[[R:.*]], %[[T:.*]] = ws.mma %[[SLOT_Q]] piece(%[[ME]]), %[[SLOT]]
  // CHECK-NEXT: ws.give
  // CHECK-NEXT: %[[REDUCED:.*]] = tile.reduce add %[[OLD]] dim 1
  // CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[L]], %[[REDUCED]]
  // CHECK-NEXT: %[[S:.*]] = ws.await %[[R]], %[[T]]
  // CHECK-NEXT: ws.release %[[SLOT]]
  // CHECK-NEXT: scf.yield %[[S]], %[[NEW]]

  // The sum of the last block, after Q has been released.
  // CHECK: ws.release %[[SLOT_Q]]
  // CHECK-NEXT: %[[R:.*]] = tile.reduce add %[[FULL]]#0 dim 1
  // CHECK-NEXT: %[[LAST:.*]] = arith.addf %[[FULL]]#1, %[[R]]
  // CHECK-NEXT: scf.yield %[[LAST]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ws.release %[[SLOT_Q]]
  // CHECK-NEXT: scf.yield %[[NONE]]
  // CHECK: tile.broadcast %[[SUM]] dim 1
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %zero = arith.constant dense<0.0> : !l
    %sq = ws.wait : <@q, !tile>
    %sum = ws.for ranges <down [masked, full]> bounds(%hi, %mid, %lo) init(%zero) : (!l) -> !l {
    ^bb0(%j: i32, %l: !l):
      ws.entry @take_tc issue 0 shift 0 {
        ws.take @tc[%me]
        ws.yield
      }
      %sk = ws.entry @get_k issue 1 shift 0 -> !slot_k {
        %x = ws.wait : <@k, !tile>
        ws.yield %x : !slot_k
      }
      %s = ws.entry @qk issue 2 shift 0 releases(%sk : !slot_k) -> !s {
        %r, %t = ws.mma %sq piece(%me), %sk transpose_b : !ws.slot<@q, !tile>, <@k, !tile> -> !s
        ws.yield %r : !s
      }
      ws.entry @give_tc issue 3 shift 0 {
        ws.give @tc[%me]
        ws.yield
      }
      %m = ws.entry @mask issue 4 shift 0 masked(%s : !s) after [@qk] -> !s {
        %at = tile.coords %j dim 0 : tensor<64x128xi32>
        %f = arith.sitofp %at : tensor<64x128xi32> to !s
        %x = arith.addf %s, %f : !s
        ws.yield %x : !s
      }
      %new = ws.entry @sum issue 5 shift 1 -> !l {
        %r = tile.reduce add %m dim 1 : !s -> !l
        %x = arith.addf %l, %r : !l
        ws.yield %x : !l
      }
      ws.yield %new : !l
    } drain {
      ws.release %sq : <@q, !tile>
      ws.yield
    } empty {
      ws.release %sq : <@q, !tile>
      ws.yield
    }
    %wide = tile.broadcast %sum dim 1 : !l -> tensor<64x64xf32>
  }
}
