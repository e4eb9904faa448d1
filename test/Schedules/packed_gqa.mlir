// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four query heads of one head of K and V share the rows of a tile, so that a few
// queries fill it: 32 positions of four heads. Masks go by the position.
// Three heads share them too: every fourth row is empty.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=tile -o - | FileCheck %s --check-prefix=TILE
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s -o %t.attn
// RUN: attn-run %t.attn --device=sim --q=1x1x8x64 --kv=1x200x2x64 --check --guard --seeds=2 | FileCheck %s --check-prefix=RESULT
// RUN: attn-run %t.attn --device=sim --q=2x5x4x64 --kv=2x70x1x64 --check --guard --seeds=2 | FileCheck %s --check-prefix=RESULT
// RUN: attn-run %t.attn --device=sim --q=1x75x8x64 --kv=1x131x2x64 --check --guard --seeds=2 | FileCheck %s --check-prefix=RESULT
// RUN: attn-run %t.attn --device=sim --q=1x90x8x64 --kv=1x40x2x64 --check --guard --seeds=2 | FileCheck %s --check-prefix=RESULT
// RUN: not attn-run %t.attn --device=sim --q=1x5x8x64 --kv=1x70x4x64 --check 2>&1 | FileCheck %s --check-prefix=HEADS
// Without a mask, under a window, and with heads before positions.
// RUN: %attn-sim %attn_root/test/Inputs/full_d64.mlir --schedule=%s --q=1x9x8x64 --kv=1x70x2x64 | FileCheck %s --check-prefix=RESULT
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=64 --mask=window_bottom_right --bound=window_left > %t.window.mlir
// RUN: %attn-sim %t.window.mlir --schedule=%s --q=1x75x8x64 --kv=1x131x2x64 --scalar=window_left=20 | FileCheck %s --check-prefix=RESULT
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=64 --layout=bhsd > %t.bhsd.mlir
// RUN: %attn-sim %t.bhsd.mlir --schedule=%s --q=1x9x8x64 --kv=1x70x2x64 | FileCheck %s --check-prefix=RESULT
// A head dim of 72 in tiles of 80 columns: several copies a tile.
// RUN: sed 's/head_dim 64, 64/head_dim 80, 80/' %s > %t.other.mlir
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=72 --mask=causal_bottom_right > %t.72.mlir
// RUN: %attn-sim %t.72.mlir --schedule=%t.other.mlir --q=1x41x8x72 --kv=1x131x2x72 | FileCheck %s --check-prefix=RESULT
// Three heads, also with several copies a tile, and heads before positions.
// RUN: sed 's/pack_gqa = 4/pack_gqa = 3/' %s > %t.three.mlir
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.three.mlir --q=2x75x6x64 --kv=2x131x2x64 | FileCheck %s --check-prefix=RESULT
// RUN: %attn-sim %t.bhsd.mlir --schedule=%t.three.mlir --q=1x9x6x64 --kv=1x70x2x64 | FileCheck %s --check-prefix=RESULT
// RUN: sed 's/pack_gqa = 4/pack_gqa = 3/' %t.other.mlir > %t.other-three.mlir
// RUN: %attn-sim %t.72.mlir --schedule=%t.other-three.mlir --q=1x41x6x72 --kv=1x131x2x72 | FileCheck %s --check-prefix=RESULT
// RUN: attn-compile %attn_root/test/Inputs/full_d64.mlir --schedule=%t.three.mlir --emit=tile -o - | FileCheck %s --check-prefix=THREE
// THREE: affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 4, d1 * 3 + d2 mod 4, d3)>
// THREE: tile.store_row {{.*}} pack 3
// Items handed out, of all heads of a position: 16.
// RUN: sed 's/work = grid/work = dynamic/; s/pack_gqa = 4/row_max = first_block, pack_gqa = 16/; s/fin norm/fin check norm/; /remat(next)/d; s/  chan q =/  chan work = w in smem depth 1\n  chan q =/; s/body load {/body load { before { next }/; s/regs 24$/regs 40/; s/regs 240/regs 232/' %s > %t.dynamic.mlir
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.dynamic.mlir --sm-count=2 --q=2x33x32x64 --kv=2x131x2x64 | FileCheck %s --check-prefix=RESULT
// A region sees a single head in each tile, so heads cannot be packed.
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=64 --score=softcap > %t.cap.mlir
// RUN: not attn-compile %t.cap.mlir --schedule=%s --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=REGION
//
// TILE-DAG: #[[PACKED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2 floordiv 4, d1 * 4 + d2 mod 4, d3)>
// TILE-DAG: #[[PLAIN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
// TILE: tile.step @ld_q
// TILE: tile.load {{.*}} #[[PACKED]]
// TILE: tile.step @ld_k
// TILE: tile.load {{.*}} #[[PLAIN]]
// TILE: tile.step @mask
// TILE: %[[ROWS:.*]] = tile.coords {{.*}} dim 0
// TILE: arith.shrui %[[ROWS]],
// TILE: tile.store {{.*}} #[[PACKED]]
// TILE: tile.store_row {{.*}} pack 4
// RESULT: check: passed
// RESULT: guard: passed
// REGION: error: 'attn.attention' op expected no regions, dropout or sinks with 'pack_gqa' above 1, because their head would differ by row, got 4
// HEADS: expected 4 query heads for each key/value head, got 

attn.table_entry fwd @packed_gqa head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 64, work = grid, order = longest_first, rescale_threshold = 8, pack_gqa = 4>
    schedule <"packed_gqa" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  knob skip right
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
