// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins the partial results that decode_d128.mlir writes: the loop runs over the
// parts, which are weighted by their LSE. Tiles and rows are loaded into the
// registers of the threads that compute.
//
// The steps are those of test/Schedule/reference/combine.tile. The schedule
// differs from f_combine.sched: that one has tiles of 8 rows and copies ahead
// through shared memory.
//
// RUN: attn-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: .visible .entry combine_d128(
// CHECK: ld.global.v2
//
// Loads into registers have no channel and no await: the hardware waits at the first use.
// RUN: attn-opt %s --attn-resolve-layouts --attn-warp-specialize | FileCheck %s --check-prefix=ROLE --implicit-check-not=ws.await
// ROLE: ws.entry @ld_op
// ROLE: tile.load {{.*}} part(%{{.*}}) {{.*}} -> tensor<64x128xf32, #tile.layout<atom = wgmma_acc, repeats = 16>>
// ROLE: ws.yield
//
// Each part is added once, to its own rows.
// RUN: sed 's/part(%j) #bshd/part(%c0) #bshd/' %s | not attn-compile - --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=SEEN
// RUN: sed 's/tile.store_reg %x, %o at(%batch, %head, %row)/tile.store_reg %x, %o at(%head, %batch, %row)/' %s \
// RUN:   | not attn-compile - --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=PLACE
// SEEN: 'tile.store_reg' op attn-verify-sync: V28: expected what is stored to have seen blocks 0 up to {{[0-9]}}, got [0]
// PLACE: 'tile.store_reg' op attn-verify-sync: V28: expected a tile to be stored where its rows are

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

tile.kernel @combine_d128 args [
    "o_part" ("parts", "b", "sq", "hq", "d"), "lse_part" ("parts", "b", "hq", "sq"),
    "o" write ("b", "sq", "hq", "d"), "lse" write ("b", "hq", "sq")]
    problem <kind = combine, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 1, work = grid>
    schedule <"combine_reg" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 240
  hold ls = ls in reg depth 1
  hold op = op in reg depth 1
  knob exp2_soft 0 of 1
  knob peel first
  body main {
    kv { ld_ls ld_op await(ld_op) mstat msum macc }
    after { fin norm st_o st_lse }
  }
}> attributes {attn.checks = []} {
^bb0(%o_part: tensor<?x?x?x?x128xf32>, %lse_part: tensor<?x?x?x?xf32>, %o: tensor<?x?x?x128xbf16>, %lse: tensor<?x?x?xf32>):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %dim0 = arith.constant 0 : index
  %dim1 = arith.constant 1 : index
  %dim2 = arith.constant 2 : index
  %part_dim0 = tensor.dim %o_part, %dim0 : tensor<?x?x?x?x128xf32>
  %parts = arith.index_cast %part_dim0 : index to i32
  %o_dim0 = tensor.dim %o, %dim0 : tensor<?x?x?x128xbf16>
  %batches = arith.index_cast %o_dim0 : index to i32
  %o_dim1 = tensor.dim %o, %dim1 : tensor<?x?x?x128xbf16>
  %positions = arith.index_cast %o_dim1 : index to i32
  %o_dim2 = tensor.dim %o, %dim2 : tensor<?x?x?x128xbf16>
  %heads = arith.index_cast %o_dim2 : index to i32
  %row_blocks = arith.ceildivsi %positions, %c64 : i32
  tile.work {
    %work = tile.step @next () : () -> !tile.work {
      %w = tile.next_work extents(%row_blocks, %heads, %batches)
      tile.yield %w : !tile.work
    }
    %end, %begin = tile.bounds %work : i32, i32 {
    ^bb0(%w: !tile.work):
      tile.yield %parts, %c0 : i32, i32
    }
    %m_init = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
    %l_init = arith.constant dense<0.0> : tensor<64xf32>
    %o_init = arith.constant dense<0.0> : tensor<64x128xf32>
    %mf, %lf, %of = tile.for ranges <down [full]> bounds(%end, %begin) init(%m_init, %l_init, %o_init)
        : (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>) {
    ^bb0(%j: i32, %m: tensor<64xf32>, %l: tensor<64xf32>, %acc: tensor<64x128xf32>):
      %ls = tile.step @ld_ls (%work) : (!tile.work) -> tensor<64xf32> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %block, %c64 : i32
        %t = tile.load_row %lse_part at(%batch, %head, %row) part(%j) : tensor<?x?x?x?xf32> -> tensor<64xf32>
        tile.yield %t : tensor<64xf32>
      }
      %op = tile.step @ld_op (%work) : (!tile.work) -> tensor<64x128xf32> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %block, %c64 : i32
        %t = tile.load %o_part at(%batch, %head, %row) part(%j) #bshd : tensor<?x?x?x?x128xf32> -> tensor<64x128xf32>
        tile.yield %t : tensor<64x128xf32>
      }
      // The weights of the sum so far and of this part, relative to the largest
      // LSE so far. A part without keys has the LSE -inf and the weight 0.
      %m1, %a, %b = tile.step @mstat (%ls, %m) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
      ^bb0(%own: tensor<64xf32>, %before: tensor<64xf32>):
        %log2e = arith.constant dense<1.44269502> : tensor<64xf32>
        %most = arith.maxnumf %own, %before : tensor<64xf32>
        %below = arith.subf %before, %most : tensor<64xf32>
        %below2 = arith.mulf %below, %log2e : tensor<64xf32>
        %old = math.exp2 %below2 : tensor<64xf32>
        %own_below = arith.subf %own, %most : tensor<64xf32>
        %own_below2 = arith.mulf %own_below, %log2e : tensor<64xf32>
        %new = math.exp2 %own_below2 : tensor<64xf32>
        tile.yield %most, %old, %new : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
      }
      %l1 = tile.step @msum (%l, %a, %b) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%before: tensor<64xf32>, %old: tensor<64xf32>, %new: tensor<64xf32>):
        %x = math.fma %before, %old, %new : tensor<64xf32>
        tile.yield %x : tensor<64xf32>
      }
      %o1 = tile.step @macc (%acc, %a, %op, %b) : (tensor<64x128xf32>, tensor<64xf32>, tensor<64x128xf32>, tensor<64xf32>) -> tensor<64x128xf32> {
      ^bb0(%before: tensor<64x128xf32>, %old: tensor<64xf32>, %own: tensor<64x128xf32>, %new: tensor<64xf32>):
        %old_spread = tile.broadcast %old dim 1 : tensor<64xf32> -> tensor<64x128xf32>
        %new_spread = tile.broadcast %new dim 1 : tensor<64xf32> -> tensor<64x128xf32>
        %kept = arith.mulf %before, %old_spread : tensor<64x128xf32>
        %x = math.fma %own, %new_spread, %kept : tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      tile.yield %m1, %l1, %o1 : tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>
    }
    %inv, %whole = tile.step @fin (%lf, %mf) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    ^bb0(%sum: tensor<64xf32>, %max: tensor<64xf32>):
      %zero = arith.constant dense<0.0> : tensor<64xf32>
      %one = arith.constant dense<1.0> : tensor<64xf32>
      %empty = arith.cmpf oeq, %sum, %zero : tensor<64xf32>
      %reciprocal = arith.divf %one, %sum : tensor<64xf32>
      %factor = arith.select %empty, %zero, %reciprocal : tensor<64xi1>, tensor<64xf32>
      %log2 = math.log2 %sum : tensor<64xf32>
      %ln2 = arith.constant dense<0.693147182> : tensor<64xf32>
      %x = math.fma %log2, %ln2, %max : tensor<64xf32>
      tile.yield %factor, %x : tensor<64xf32>, tensor<64xf32>
    }
    %on = tile.step @norm (%of, %inv) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64x128xbf16> {
    ^bb0(%x: tensor<64x128xf32>, %factor: tensor<64xf32>):
      %spread = tile.broadcast %factor dim 1 : tensor<64xf32> -> tensor<64x128xf32>
      %scaled = arith.mulf %x, %spread : tensor<64x128xf32>
      %rounded = arith.truncf %scaled : tensor<64x128xf32> to tensor<64x128xbf16>
      tile.yield %rounded : tensor<64x128xbf16>
    }
    tile.step @st_o (%on, %work) : (tensor<64x128xbf16>, !tile.work) -> () {
    ^bb0(%x: tensor<64x128xbf16>, %w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %row = arith.muli %block, %c64 : i32
      tile.store_reg %x, %o at(%batch, %head, %row) #bshd : tensor<64x128xbf16>, tensor<?x?x?x128xbf16>
      tile.yield
    }
    tile.step @st_lse (%whole, %work) : (tensor<64xf32>, !tile.work) -> () {
    ^bb0(%x: tensor<64xf32>, %w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %row = arith.muli %block, %c64 : i32
      tile.store_row %x, %lse at(%batch, %head, %row) : tensor<64xf32>, tensor<?x?x?xf32>
      tile.yield
    }
  }
}
