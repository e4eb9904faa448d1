// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main kernel of a causal backward pass. A work item owns a block of keys
// and streams the blocks of queries that see it: it recomputes the scores with
// keys as rows, sums dK and dV in registers and adds each block's share of dQ
// to memory. `lse2` is the log-sum-exp in log2 units, +inf for a row without
// keys; `delta` is the row sum of dO * O. dQ still lacks the softmax scale.
// As many heads of K and V as of Q.
//
// The steps are those of test/Schedule/reference/bwd.tile, the schedule is
// e_bwd_d128.sched beside it: one that moves dX and the row statistics through
// channels, and dQ through a role of its own.
//
// The schedule is legal; the compiler lacks what the lines below name.
// RUN: attn-opt %s --attn-verify-schedule=lowering=false -o /dev/null
// RUN: not attn-compile %s --emit=ptx -o - 2>&1 | FileCheck %s
// CHECK: error: 'tile.kernel' op V29: expected a schedule that machine 'sm_90a' has a lowering for, got the transposed operand A of 'mm_dq' ('transposed_a')

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

tile.kernel @bwd_d128 args [
    "q" ("b", "sq", "hq", "d"), "k" ("b", "sk", "hq", "d"), "v" ("b", "sk", "hq", "d"), "do" ("b", "sq", "hq", "d"),
    "lse2" ("b", "hq", "sq"), "delta" ("b", "hq", "sq"), "scale",
    "dq" accumulate ("b", "sq", "hq", "d"), "dk" write ("b", "sk", "hq", "d"), "dv" write ("b", "sk", "hq", "d")]
    problem <kind = bwd, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = causal_bottom_right, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 128, work = static>
    schedule <"fa3_bwd_d128" machine "sm_90a" {
  split N 2 whole(k, v) also(dq : D)
  remat(next)
  role load warps 1 regs 24
  role red warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q + lse in smem depth 2
  chan do = do + dl in smem depth 2
  chan ds = ds in smem depth 2 for(mm_dq) full_implied free_implied
  chan dq = dq in smem depth 1
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  hold p = p in reg over s
  hold dsr = ds in reg depth 1 for(mm_dk)
  hold dk = dk in reg
  hold dv = dv in reg
  hold dqr = dq in reg over dp
  hold dke = dke in smem over k
  hold dve = dve in smem over v
  sync pds ring wg
  sync drain ring wg
  edge dkv_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { wait(dkv_free) }
    kv { ld_q ld_lse once : ld_k once : ld_v ld_do ld_dl }
  }
  body wg {
    kv { qk dp score mask exp dsoft cvt_p cvt_ds mm_dv sync(pds) mm_dq await(mm_dv) mm_dk put(dq) await(mm_dk) }
    after { sync(drain) cvt_dv st_dv cvt_dk st_dk await(st_dk) sig(dkv_free) }
  }
  body red {
    kv { red_dq[0] red_dq[1] }
  }
}> attributes {attn.checks = [
    {expr = #launch.apply<lt(max(sq, sk), 2147418112)>, equals = 1, message = "expected sequence lengths below 2147418112, got {sq} queries and {sk} keys"},
    {expr = #launch.apply<lt(items, 2147418112)>, equals = 1, message = "expected key blocks times heads times batches to be below 2147418112"}],
    attn.values = #attn.kernel_values<bwd {
      carried dk<N, D>, dv<N, DV>
      final dkf<N, D>, dvf<N, DV>
      step next w
      step ld_k k<N, D>
      step ld_v v<N, DV>
      step ld_q q<M, D>
      step ld_lse lse<M>
      step ld_do do<M, DV>
      step ld_dl dl<M>
      step qk s<N, M>
      step dp dp<N, M>
      step score s1<N, M>, g<N, M>
      step mask s2<N, M>
      step exp p32<N, M>
      step cvt_p p<N, M>
      step dsoft ds32<N, M>
      step cvt_ds ds<N, M>
      step mm_dv dv1<N, DV>
      step mm_dk dk1<N, D>
      step mm_dq dq<M, D>
      step cvt_dk dke<N, D>
      step cvt_dv dve<N, DV>
    }>} {
^bb0(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %do: tensor<?x?x?x128xbf16>, %lse2: tensor<?x?x?xf32>, %delta: tensor<?x?x?xf32>, %scale: f32, %dq: tensor<?x?x?x128xf32>, %dk: tensor<?x?x?x128xbf16>, %dv: tensor<?x?x?x128xbf16>):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c127 = arith.constant 127 : i32
  %c128 = arith.constant 128 : i32
  %dim0 = arith.constant 0 : index
  %dim1 = arith.constant 1 : index
  %dim2 = arith.constant 2 : index
  %q_dim0 = tensor.dim %q, %dim0 : tensor<?x?x?x128xbf16>
  %batches = arith.index_cast %q_dim0 : index to i32
  %q_dim1 = tensor.dim %q, %dim1 : tensor<?x?x?x128xbf16>
  %queries = arith.index_cast %q_dim1 : index to i32
  %q_dim2 = tensor.dim %q, %dim2 : tensor<?x?x?x128xbf16>
  %heads = arith.index_cast %q_dim2 : index to i32
  %k_dim1 = tensor.dim %k, %dim1 : tensor<?x?x?x128xbf16>
  %keys = arith.index_cast %k_dim1 : index to i32
  %key_blocks = arith.ceildivsi %keys, %c128 : i32
  // Query i sees the keys up to i + diagonal.
  %diagonal = arith.subi %keys, %queries : i32
  %log2e = arith.constant 1.44269502 : f32
  %scale2 = arith.mulf %scale, %log2e : f32
  tile.work {
    %work = tile.step @next () : () -> !tile.work {
      %w = tile.next_work extents(%key_blocks, %heads, %batches)
      tile.yield %w : !tile.work
    }
    %k_tile = tile.step @ld_k (%work) : (!tile.work) -> tensor<128x128xbf16> {
    ^bb0(%w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %key = arith.muli %block, %c128 : i32
      %t = tile.load %k at(%batch, %head, %key) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
      tile.yield %t : tensor<128x128xbf16>
    }
    %v_tile = tile.step @ld_v (%work) : (!tile.work) -> tensor<128x128xbf16> {
    ^bb0(%w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %key = arith.muli %block, %c128 : i32
      %t = tile.load %v at(%batch, %head, %key) #bshd : tensor<?x?x?x128xbf16> -> tensor<128x128xbf16>
      tile.yield %t : tensor<128x128xbf16>
    }
    // Query blocks [begin, end) see some of the keys, [mid, end) all of them.
    // If the keys end in this block of keys, it is masked for every query.
    %end, %mid, %begin = tile.bounds %work : i32, i32, i32 {
    ^bb0(%w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %hi = arith.ceildivsi %queries, %c64 : i32
      %first_key = arith.muli %block, %c128 : i32
      %last_key = arith.addi %first_key, %c127 : i32
      %first_query = arith.subi %first_key, %diagonal : i32
      %first_row = arith.maxsi %first_query, %c0 : i32
      %first_block = arith.divsi %first_row, %c64 : i32
      %lo = arith.minsi %first_block, %hi : i32
      %full_query = arith.subi %last_key, %diagonal : i32
      %full_row = arith.maxsi %full_query, %c0 : i32
      %full_block = arith.ceildivsi %full_row, %c64 : i32
      %some = arith.minsi %full_block, %hi : i32
      %whole = arith.cmpi slt, %last_key, %keys : i32
      %full = arith.select %whole, %some, %hi : i32
      tile.yield %hi, %full, %lo : i32, i32, i32
    }
    %dk_init = arith.constant dense<0.0> : tensor<128x128xf32>
    %dv_init = arith.constant dense<0.0> : tensor<128x128xf32>
    %dkf, %dvf = tile.for ranges <down [full, masked]> bounds(%end, %mid, %begin) init(%dk_init, %dv_init)
        : (tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
    ^bb0(%i: i32, %dk_acc: tensor<128x128xf32>, %dv_acc: tensor<128x128xf32>):
      %q_tile = tile.step @ld_q (%work) : (!tile.work) -> tensor<64x128xbf16> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %i, %c64 : i32
        %t = tile.load %q at(%batch, %head, %row) #bshd : tensor<?x?x?x128xbf16> -> tensor<64x128xbf16>
        tile.yield %t : tensor<64x128xbf16>
      }
      %lse_row = tile.step @ld_lse (%work) : (!tile.work) -> tensor<64xf32> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %i, %c64 : i32
        %t = tile.load_row %lse2 at(%batch, %head, %row) : tensor<?x?x?xf32> -> tensor<64xf32>
        tile.yield %t : tensor<64xf32>
      }
      %do_tile = tile.step @ld_do (%work) : (!tile.work) -> tensor<64x128xbf16> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %i, %c64 : i32
        %t = tile.load %do at(%batch, %head, %row) #bshd : tensor<?x?x?x128xbf16> -> tensor<64x128xbf16>
        tile.yield %t : tensor<64x128xbf16>
      }
      %delta_row = tile.step @ld_dl (%work) : (!tile.work) -> tensor<64xf32> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %i, %c64 : i32
        %t = tile.load_row %delta at(%batch, %head, %row) : tensor<?x?x?xf32> -> tensor<64xf32>
        tile.yield %t : tensor<64xf32>
      }
      %s = tile.step @qk (%k_tile, %q_tile) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x128xbf16>, %b: tensor<64x128xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
        tile.yield %x : tensor<128x64xf32>
      }
      %dp = tile.step @dp (%v_tile, %do_tile) : (tensor<128x128xbf16>, tensor<64x128xbf16>) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x128xbf16>, %b: tensor<64x128xbf16>):
        %x = tile.mma %a, %b transpose_b : tensor<128x128xbf16>, tensor<64x128xbf16> -> tensor<128x64xf32>
        tile.yield %x : tensor<128x64xf32>
      }
      %s1 = tile.step @score (%s) : (tensor<128x64xf32>) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x64xf32>):
        tile.yield %a : tensor<128x64xf32>
      }
      %s2 = tile.step @mask masked (%s1, %work) : (tensor<128x64xf32>, !tile.work) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x64xf32>, %w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %first_key = arith.muli %block, %c128 : i32
        %key = tile.coords %first_key dim 0 : tensor<128x64xi32>
        %first_query = arith.muli %i, %c64 : i32
        %query = tile.coords %first_query dim 1 : tensor<128x64xi32>
        %offset = tensor.splat %diagonal : tensor<128x64xi32>
        %last = arith.addi %query, %offset : tensor<128x64xi32>
        %seen = arith.cmpi sle, %key, %last : tensor<128x64xi32>
        %most = tensor.splat %keys : tensor<128x64xi32>
        %inside = arith.cmpi slt, %key, %most : tensor<128x64xi32>
        %admitted = arith.andi %seen, %inside : tensor<128x64xi1>
        %excluded = arith.constant dense<0xFF800000> : tensor<128x64xf32>
        %x = arith.select %admitted, %a, %excluded : tensor<128x64xi1>, tensor<128x64xf32>
        tile.yield %x : tensor<128x64xf32>
      }
      %p32 = tile.step @exp (%s2, %lse_row) : (tensor<128x64xf32>, tensor<64xf32>) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x64xf32>, %row: tensor<64xf32>):
        %factor = tensor.splat %scale2 : tensor<128x64xf32>
        %negated = arith.negf %row : tensor<64xf32>
        %spread = tile.broadcast %negated dim 0 : tensor<64xf32> -> tensor<128x64xf32>
        %power = math.fma %a, %factor, %spread : tensor<128x64xf32>
        %x = math.exp2 %power fastmath<afn> : tensor<128x64xf32>
        tile.yield %x : tensor<128x64xf32>
      }
      %p = tile.step @cvt_p (%p32) : (tensor<128x64xf32>) -> tensor<128x64xbf16> {
      ^bb0(%a: tensor<128x64xf32>):
        %x = arith.truncf %a : tensor<128x64xf32> to tensor<128x64xbf16>
        tile.yield %x : tensor<128x64xbf16>
      }
      %ds32 = tile.step @dsoft (%p32, %dp, %delta_row) : (tensor<128x64xf32>, tensor<128x64xf32>, tensor<64xf32>) -> tensor<128x64xf32> {
      ^bb0(%a: tensor<128x64xf32>, %b: tensor<128x64xf32>, %row: tensor<64xf32>):
        %spread = tile.broadcast %row dim 0 : tensor<64xf32> -> tensor<128x64xf32>
        %difference = arith.subf %b, %spread : tensor<128x64xf32>
        %x = arith.mulf %a, %difference : tensor<128x64xf32>
        tile.yield %x : tensor<128x64xf32>
      }
      %ds = tile.step @cvt_ds (%ds32) : (tensor<128x64xf32>) -> tensor<128x64xbf16> {
      ^bb0(%a: tensor<128x64xf32>):
        %x = arith.truncf %a : tensor<128x64xf32> to tensor<128x64xbf16>
        tile.yield %x : tensor<128x64xbf16>
      }
      %dv1 = tile.step @mm_dv (%p, %do_tile, %dv_acc) : (tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<64x128xbf16>, %acc: tensor<128x128xf32>):
        %x = tile.mma %a, %b acc(%acc : tensor<128x128xf32>) : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      %dk1 = tile.step @mm_dk (%ds, %q_tile, %dk_acc) : (tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>) -> tensor<128x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<64x128xbf16>, %acc: tensor<128x128xf32>):
        %x = tile.mma %a, %b acc(%acc : tensor<128x128xf32>) : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
        tile.yield %x : tensor<128x128xf32>
      }
      %dq_part = tile.step @mm_dq (%ds, %k_tile) : (tensor<128x64xbf16>, tensor<128x128xbf16>) -> tensor<64x128xf32> {
      ^bb0(%a: tensor<128x64xbf16>, %b: tensor<128x128xbf16>):
        %x = tile.mma %a, %b transpose_a : tensor<128x64xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
        tile.yield %x : tensor<64x128xf32>
      }
      tile.step @red_dq (%dq_part, %work) : (tensor<64x128xf32>, !tile.work) -> () {
      ^bb0(%a: tensor<64x128xf32>, %w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %i, %c64 : i32
        tile.reduce_add %a, %dq at(%batch, %head, %row) #bshd : tensor<64x128xf32>, tensor<?x?x?x128xf32>
        tile.yield
      }
      tile.yield %dk1, %dv1 : tensor<128x128xf32>, tensor<128x128xf32>
    }
    %dke = tile.step @cvt_dk (%dkf) : (tensor<128x128xf32>) -> tensor<128x128xbf16> {
    ^bb0(%a: tensor<128x128xf32>):
      %factor = tensor.splat %scale : tensor<128x128xf32>
      %scaled = arith.mulf %a, %factor : tensor<128x128xf32>
      %x = arith.truncf %scaled : tensor<128x128xf32> to tensor<128x128xbf16>
      tile.yield %x : tensor<128x128xbf16>
    }
    %dve = tile.step @cvt_dv (%dvf) : (tensor<128x128xf32>) -> tensor<128x128xbf16> {
    ^bb0(%a: tensor<128x128xf32>):
      %x = arith.truncf %a : tensor<128x128xf32> to tensor<128x128xbf16>
      tile.yield %x : tensor<128x128xbf16>
    }
    tile.step @st_dv (%dve, %work) : (tensor<128x128xbf16>, !tile.work) -> () {
    ^bb0(%a: tensor<128x128xbf16>, %w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %row = arith.muli %block, %c128 : i32
      tile.store %a, %dv at(%batch, %head, %row) #bshd : tensor<128x128xbf16>, tensor<?x?x?x128xbf16>
      tile.yield
    }
    tile.step @st_dk (%dke, %work) : (tensor<128x128xbf16>, !tile.work) -> () {
    ^bb0(%a: tensor<128x128xbf16>, %w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %row = arith.muli %block, %c128 : i32
      tile.store %a, %dk at(%batch, %head, %row) #bshd : tensor<128x128xbf16>, tensor<?x?x?x128xbf16>
      tile.yield
    }
  }
}
