// A kernel of two roles: Q and K are copied, and O is the sum of (Q * K^T) * K.
// Each replica puts and stores half of its rows.
#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 64, work = static>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#map = affine_map<(b, h, i, c) -> (b, i, h, c)>
!kv = !ws.slot<@k, tensor<64x64xbf16>>
!q = !ws.slot<@q, tensor<128x64xbf16>>
ws.kernel @f machine "sm_90a" args ["q", "k", "o" write, "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: i32):
  ws.channel @q [tensor<128x64xbf16>] depth 1
  ws.channel @k [tensor<64x64xbf16>] depth 2
  ws.hold @oe tensor<64x64xbf16> pieces 2
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:2 = tile.bounds %w : i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n : i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %sq = ws.acquire : <@q, tensor<128x64xbf16>>
      %block, %head, %batch = tile.work_coords %w
      %c64 = arith.constant 64 : i32
      %c128 = arith.constant 128 : i32
      %row = arith.muli %block, %c128 : i32
      ws.copy %q at(%batch, %head, %row) #map to %sq : tensor<?x?x?x64xbf16>, <@q, tensor<128x64xbf16>>
      scf.for %i = %zero to %b#0 step %one : i32 {
        %sk = ws.acquire : <@k, tensor<64x64xbf16>>
        %next = arith.addi %i, %one : i32
        %j = arith.subi %b#0, %next : i32
        %kv = arith.muli %j, %c64 : i32 // row of K
        ws.copy %k at(%batch, %head, %kv) #map to %sk : tensor<?x?x?x64xbf16>, <@k, tensor<64x64xbf16>> // copy K
      }
    }
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %b:2 = tile.bounds %w : i32, i32 {
      ^bb0(%x: !tile.work):
        tile.yield %n, %n : i32, i32
      }
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %other = arith.subi %one, %me : i32
      %none = arith.constant dense<0.0> : tensor<64x64xf32>
      %sq = ws.wait : <@q, tensor<128x64xbf16>>
      %sum = scf.for %i = %zero to %b#0 step %one iter_args(%acc = %none) -> tensor<64x64xf32> : i32 {
        %sk = ws.wait : <@k, tensor<64x64xbf16>>
        %r, %t = ws.mma %sq piece(%me), %sk transpose_b : !q, <@k, tensor<64x64xbf16>> -> tensor<64x64xf32> // MMA
        %s = ws.await %r, %t : tensor<64x64xf32> // await MMA
        %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xbf16>
        %r2, %t2 = ws.mma %p, %sk acc(%acc : tensor<64x64xf32>) : tensor<64x64xbf16>, <@k, tensor<64x64xbf16>> -> tensor<64x64xf32> // second
        %o2 = ws.await %r2, %t2 : tensor<64x64xf32> // await second
        ws.release %sk : <@k, tensor<64x64xbf16>> // release K
        scf.yield %o2 : tensor<64x64xf32> // next
      }
      ws.release %sq : <@q, tensor<128x64xbf16>> // release Q
      %oe = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
      %block, %head, %batch = tile.work_coords %w
      %c64 = arith.constant 64 : i32
      %c128 = arith.constant 128 : i32
      %rows = arith.muli %block, %c128 : i32
      %below = arith.muli %me, %c64 : i32
      %row = arith.addi %rows, %below : i32
      ws.await_store // await
      ws.put %oe in @oe[%me] : tensor<64x64xbf16> // put
      ws.store @oe[%me], %o at(%batch, %head, %row) #map : tensor<?x?x?x64xbf16> // store
    }
    ws.await_store // last await
  }
}
