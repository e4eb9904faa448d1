// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoding with split keys: a few queries read many keys. The keys are cut into
// as many shares as `o_part` has parts; a work item computes one share. Its O
// and LSE are partial results, in f32, which combine_d128.mlir joins. Four
// query heads of one head of K and V share the rows of a tile.
//
// The steps are those of test/Schedule/reference/decode.tile, the schedule is
// f_decode.sched beside it.
//
// RUN: attn-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: .visible .entry decode_d128(
// CHECK: wgmma.mma_async
// CHECK: st.global.v2
//
// The results of a part go to the batch whose queries it read.
// RUN: sed '/tile.store_reg/s/at(%batch,/at(%%part,/' %s | not attn-compile - --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: 'tile.store_reg' op attn-verify-sync: V28: expected a tile to be stored where its rows are

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>
#packed = affine_map<(b, h, i, c) -> (b, i floordiv 4, h * 4 + i mod 4, c)>

tile.kernel @decode_d128 args [
    "q" ("b", "sq", "hq", "d"), "k" ("b", "sk", "hk", "d"), "v" ("b", "sk", "hk", "d"), "scale" from 1.17549435e-38 to 2.35865744e+38,
    "o_part" write ("parts", "b", "sq", "hq", "d"), "lse_part" write ("parts", "b", "hq", "sq")]
    problem <kind = decode, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 128, work = grid, pack_gqa = 4>
    schedule <"decode_gqa_split" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 40
  role wg warps 4 regs 232
  chan q = q in smem depth 1
  chan kv = k | v in smem depth 6
  hold p = p in reg depth 2
  hold s = s in reg depth 1
  hold o = o in reg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { qk pv + 1 score mask stat exp sum cvt rescale }
    after { fin norm st_o st_lse }
  }
}> attributes {attn.checks = [
    {expr = #launch.apply<sub(hq, mul(hk, 4))>, equals = 0, message = "expected 4 query heads for each key/value head, got {hq} and {hk}"},
    {expr = #launch.apply<lt(max(mul(sq, 4), sk), 2147418112)>, equals = 1, message = "expected sequence lengths below 536854528, got {sq} queries and {sk} keys"},
    {expr = #launch.apply<lt(items, 2147418112)>, equals = 1, message = "expected row blocks times heads times batches times parts to be below 2147418112"}]} {
^bb0(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %scale: f32, %o_part: tensor<?x?x?x?x128xf32>, %lse_part: tensor<?x?x?x?xf32>):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %dim0 = arith.constant 0 : index
  %dim1 = arith.constant 1 : index
  %dim2 = arith.constant 2 : index
  %q_dim0 = tensor.dim %q, %dim0 : tensor<?x?x?x128xbf16>
  %batches = arith.index_cast %q_dim0 : index to i32
  %q_dim1 = tensor.dim %q, %dim1 : tensor<?x?x?x128xbf16>
  %positions = arith.index_cast %q_dim1 : index to i32
  %k_dim1 = tensor.dim %k, %dim1 : tensor<?x?x?x128xbf16>
  %keys = arith.index_cast %k_dim1 : index to i32
  %k_dim2 = tensor.dim %k, %dim2 : tensor<?x?x?x128xbf16>
  %heads = arith.index_cast %k_dim2 : index to i32
  %part_dim0 = tensor.dim %o_part, %dim0 : tensor<?x?x?x?x128xf32>
  %parts = arith.index_cast %part_dim0 : index to i32
  %rows = arith.muli %positions, %c4 : i32
  %row_blocks = arith.ceildivsi %rows, %c64 : i32
  %shares = arith.muli %batches, %parts : i32
  // The number of key blocks, and the most that a part has.
  %blocks = arith.ceildivsi %keys, %c128 : i32
  %full_blocks = arith.divsi %keys, %c128 : i32
  %each = arith.ceildivsi %blocks, %parts : i32
  %log2e = arith.constant 1.44269502 : f32
  %scale2 = arith.mulf %scale, %log2e : f32
  tile.work {
    %work = tile.step @next () : () -> !tile.work {
      %w = tile.next_work extents(%row_blocks, %heads, %shares)
      tile.yield %w : !tile.work
    }
    %q_tile = tile.step @ld_q (%work) : (!tile.work) -> tensor<64x128xbf16> {
    ^bb0(%w: !tile.work):
      %block, %head, %share = tile.work_coords %w
      %batch = arith.divui %share, %parts : i32
      %row = arith.muli %block, %c64 : i32
      %t = tile.load %q at(%batch, %head, %row) #packed : tensor<?x?x?x128xbf16> -> tensor<64x128xbf16>
      tile.yield %t : tensor<64x128xbf16>
    }
    // A part has the blocks [begin, end). The last one is masked if the keys
    // end in it.
    %end, %mid, %begin = tile.bounds %work : i32, i32, i32 {
    ^bb0(%w: !tile.work):
      %block, %head, %share = tile.work_coords %w
      %part = arith.remui %share, %parts : i32
      %first = arith.muli %part, %each : i32
      %lo = arith.minsi %first, %blocks : i32
      %past = arith.addi %lo, %each : i32
      %hi = arith.minsi %past, %blocks : i32
      %some = arith.minsi %hi, %full_blocks : i32
      %full = arith.maxsi %some, %lo : i32
      tile.yield %hi, %full, %lo : i32, i32, i32
    }
    %m_init = arith.constant dense<-3.40282347E+38> : tensor<64xf32>
    %l_init = arith.constant dense<0.0> : tensor<64xf32>
    %o_init = arith.constant dense<0.0> : tensor<64x128xf32>
    %mf, %lf, %of = tile.for ranges <down [masked, full]> bounds(%end, %mid, %begin) init(%m_init, %l_init, %o_init)
        : (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>) {
    ^bb0(%j: i32, %m: tensor<64xf32>, %l: tensor<64xf32>, %o: tensor<64x128xf32>):
      %k_tile = tile.step @ld_k (%work) : (!tile.work) -> tensor<128x128xbf16> {
      ^bb0(%w: !tile.work):
        %block, %head, %share = tile.work_coords %w
        %batch = arith.divui %share, %parts : i32
        %key = arith.muli %j, %c128 : i32
        %t = tile.load %k at(%batch, %head, %key) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
        tile.yield %t : tensor<128x128xbf16>
      }
      %v_tile = tile.step @ld_v (%work) : (!tile.work) -> tensor<128x128xbf16> {
      ^bb0(%w: !tile.work):
        %block, %head, %share = tile.work_coords %w
        %batch = arith.divui %share, %parts : i32
        %key = arith.muli %j, %c128 : i32
        %t = tile.load %v at(%batch, %head, %key) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
        tile.yield %t : tensor<128x128xbf16>
      }
      %s = tile.step @qk (%q_tile, %k_tile) : (tensor<64x128xbf16>, tensor<128x128xbf16>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xbf16>, %b: tensor<128x128xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      %s1 = tile.step @score (%s) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xf32>):
        tile.yield %a : tensor<64x128xf32>
      }
      %s2 = tile.step @mask masked (%s1) : (tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xf32>):
        %key = arith.muli %j, %c128 : i32
        %columns = tile.coords %key dim 1 : tensor<64x128xi32>
        %most = tensor.splat %keys : tensor<64x128xi32>
        %inside = arith.cmpi slt, %columns, %most : tensor<64x128xi32>
        %excluded = arith.constant dense<0xFF800000> : tensor<64x128xf32>
        %x = arith.select %inside, %a, %excluded : tensor<64x128xi1>, tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      // The maximum so far, in log2 units. A block has at least one key, so that
      // it is finite from the first block on.
      %m1, %alpha = tile.step @stat (%s2, %m) : (tensor<64x128xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
      ^bb0(%a: tensor<64x128xf32>, %before: tensor<64xf32>):
        %max = tile.reduce max %a dim 1 : tensor<64x128xf32> -> tensor<64xf32>
        %factor = tensor.splat %scale2 : tensor<64xf32>
        %scaled = arith.mulf %max, %factor : tensor<64xf32>
        %most = arith.maxnumf %scaled, %before : tensor<64xf32>
        %grown = arith.subf %before, %most : tensor<64xf32>
        %shrink = math.exp2 %grown : tensor<64xf32>
        tile.yield %most, %shrink : tensor<64xf32>, tensor<64xf32>
      }
      %p32 = tile.step @exp (%s2, %m1) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xf32>, %max: tensor<64xf32>):
        %factor = tensor.splat %scale2 : tensor<64x128xf32>
        %negated = arith.negf %max : tensor<64xf32>
        %spread = tile.broadcast %negated dim 1 : tensor<64xf32> -> tensor<64x128xf32>
        %power = math.fma %a, %factor, %spread : tensor<64x128xf32>
        %x = math.exp2 %power fastmath<afn> : tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      %l1 = tile.step @sum (%p32, %l, %alpha) : (tensor<64x128xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%a: tensor<64x128xf32>, %before: tensor<64xf32>, %shrink: tensor<64xf32>):
        %share = tile.reduce add %a dim 1 partial : tensor<64x128xf32> -> tensor<64xf32>
        %x = math.fma %before, %shrink, %share : tensor<64xf32>
        tile.yield %x : tensor<64xf32>
      }
      %p = tile.step @cvt (%p32) : (tensor<64x128xf32>) -> tensor<64x128xbf16> {
      ^bb0(%a: tensor<64x128xf32>):
        %x = arith.truncf %a : tensor<64x128xf32> to tensor<64x128xbf16>
        tile.yield %x : tensor<64x128xbf16>
      }
      %o1 = tile.step @rescale (%o, %alpha) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xf32>, %shrink: tensor<64xf32>):
        %spread = tile.broadcast %shrink dim 1 : tensor<64xf32> -> tensor<64x128xf32>
        %x = arith.mulf %a, %spread : tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      %o2 = tile.step @pv (%p, %v_tile, %o1) : (tensor<64x128xbf16>, tensor<128x128xbf16>, tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<64x128xbf16>, %b: tensor<128x128xbf16>, %acc: tensor<64x128xf32>):
        %x = tile.mma %a, %b acc(%acc : tensor<64x128xf32>) : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      tile.yield %m1, %l1, %o2 : tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>
    }
    // A part without keys has O = 0 and LSE = -inf.
    %inv, %lse = tile.step @fin (%lf, %mf) : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    ^bb0(%shares_of_sum: tensor<64xf32>, %max: tensor<64xf32>):
      %sum = tile.complete %shares_of_sum : tensor<64xf32> -> tensor<64xf32>
      %zero = arith.constant dense<0.0> : tensor<64xf32>
      %one = arith.constant dense<1.0> : tensor<64xf32>
      %empty = arith.cmpf oeq, %sum, %zero : tensor<64xf32>
      %reciprocal = arith.divf %one, %sum : tensor<64xf32>
      %factor = arith.select %empty, %zero, %reciprocal : tensor<64xi1>, tensor<64xf32>
      %log2 = math.log2 %sum : tensor<64xf32>
      %ln2 = arith.constant dense<0.693147182> : tensor<64xf32>
      %in_log2 = arith.addf %max, %log2 : tensor<64xf32>
      %natural = arith.mulf %in_log2, %ln2 : tensor<64xf32>
      tile.yield %factor, %natural : tensor<64xf32>, tensor<64xf32>
    }
    %on = tile.step @norm (%of, %inv) : (tensor<64x128xf32>, tensor<64xf32>) -> tensor<64x128xf32> {
    ^bb0(%a: tensor<64x128xf32>, %factor: tensor<64xf32>):
      %spread = tile.broadcast %factor dim 1 : tensor<64xf32> -> tensor<64x128xf32>
      %x = arith.mulf %a, %spread : tensor<64x128xf32>
      tile.yield %x : tensor<64x128xf32>
    }
    tile.step @st_o (%on, %work) : (tensor<64x128xf32>, !tile.work) -> () {
    ^bb0(%a: tensor<64x128xf32>, %w: !tile.work):
      %block, %head, %share = tile.work_coords %w
      %batch = arith.divui %share, %parts : i32
      %part = arith.remui %share, %parts : i32
      %row = arith.muli %block, %c64 : i32
      tile.store_reg %a, %o_part at(%batch, %head, %row) part(%part) #packed : tensor<64x128xf32>, tensor<?x?x?x?x128xf32>
      tile.yield
    }
    tile.step @st_lse (%lse, %work) : (tensor<64xf32>, !tile.work) -> () {
    ^bb0(%a: tensor<64xf32>, %w: !tile.work):
      %block, %head, %share = tile.work_coords %w
      %batch = arith.divui %share, %parts : i32
      %part = arith.remui %share, %parts : i32
      %row = arith.muli %block, %c64 : i32
      tile.store_row %a, %lse_part at(%batch, %head, %row) part(%part) pack 4 : tensor<64xf32>, tensor<?x?x?x?xf32>
      tile.yield
    }
  }
}
