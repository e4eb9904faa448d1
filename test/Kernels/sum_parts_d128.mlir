// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds partial results in the order of their parts and rounds the sum once: the
// gradients of K, say, that each query head of a group has computed. The kernel is
// of no kind that the compiler knows, so its text names its values.
//
// RUN: attn-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: .visible .entry sum_parts_d128(
// CHECK: cvt.rn.bf16x2.f32
//
// RUN: env ATTN_PTXAS=none attn-compile %s -o %t.attn
// RUN: %python %S/sum_parts.py --runtime=%attn_build/lib/libattn_runtime.so --bundle=%t.attn --seeds=8 | FileCheck %s --check-prefix=SUMS
// SUMS: sum of parts: 8 problems right
//
// RUN: sed 's/attn.values = .*custom {/attn.own = #attn.kernel_values<custom {/' %s \
// RUN:   | not attn-compile - --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=NAMES
// NAMES: error: 'tile.kernel' op expected 'attn.values' on a kernel of kind 'custom'

#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

tile.kernel @sum_parts_d128 args [
    "x_part" ("parts", "b", "s", "h", "d"), "x" write ("b", "s", "h", "d")]
    problem <kind = custom, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = absent, mask_region = absent>
    config <tile_m = 64, tile_n = 1, work = grid>
    schedule <"sum_parts" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 240
  hold part = part in reg depth 1
  knob exp2_soft 0 of 1
  knob peel first
  body main {
    kv { ld await(ld) add }
    after { round st }
  }
}> attributes {attn.checks = [], attn.values = #attn.kernel_values<custom {
  carried sum<M, D>
  final total<M, D>
  step next w
  step ld part<M, D>
  step add sum1<M, D>
  step round x<M, D>
}>} {
^bb0(%x_part: tensor<?x?x?x?x128xf32>, %x: tensor<?x?x?x128xbf16>):
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %dim0 = arith.constant 0 : index
  %dim1 = arith.constant 1 : index
  %dim2 = arith.constant 2 : index
  %part_dim0 = tensor.dim %x_part, %dim0 : tensor<?x?x?x?x128xf32>
  %parts = arith.index_cast %part_dim0 : index to i32
  %x_dim0 = tensor.dim %x, %dim0 : tensor<?x?x?x128xbf16>
  %batches = arith.index_cast %x_dim0 : index to i32
  %x_dim1 = tensor.dim %x, %dim1 : tensor<?x?x?x128xbf16>
  %positions = arith.index_cast %x_dim1 : index to i32
  %x_dim2 = tensor.dim %x, %dim2 : tensor<?x?x?x128xbf16>
  %heads = arith.index_cast %x_dim2 : index to i32
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
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %total = tile.for ranges <down [full]> bounds(%end, %begin) init(%zero) : (tensor<64x128xf32>) -> (tensor<64x128xf32>) {
    ^bb0(%j: i32, %sum: tensor<64x128xf32>):
      %part = tile.step @ld (%work) : (!tile.work) -> tensor<64x128xf32> {
      ^bb0(%w: !tile.work):
        %block, %head, %batch = tile.work_coords %w
        %row = arith.muli %block, %c64 : i32
        %t = tile.load %x_part at(%batch, %head, %row) part(%j) #bshd : tensor<?x?x?x?x128xf32> -> tensor<64x128xf32>
        tile.yield %t : tensor<64x128xf32>
      }
      %sum1 = tile.step @add (%sum, %part) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%before: tensor<64x128xf32>, %own: tensor<64x128xf32>):
        %after = arith.addf %before, %own : tensor<64x128xf32>
        tile.yield %after : tensor<64x128xf32>
      }
      tile.yield %sum1 : tensor<64x128xf32>
    }
    %rounded = tile.step @round (%total) : (tensor<64x128xf32>) -> tensor<64x128xbf16> {
    ^bb0(%exact: tensor<64x128xf32>):
      %r = arith.truncf %exact : tensor<64x128xf32> to tensor<64x128xbf16>
      tile.yield %r : tensor<64x128xbf16>
    }
    tile.step @st (%rounded, %work) : (tensor<64x128xbf16>, !tile.work) -> () {
    ^bb0(%tile: tensor<64x128xbf16>, %w: !tile.work):
      %block, %head, %batch = tile.work_coords %w
      %row = arith.muli %block, %c64 : i32
      tile.store_reg %tile, %x at(%batch, %head, %row) #bshd : tensor<64x128xbf16>, tensor<?x?x?x128xbf16>
      tile.yield
    }
  }
}
