// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The items of the last wave of CTAs are cut along the keys, and joined in the last
// of their parts.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o %t.ptx
// RUN: %python %S/../Codegen/hot_loop.py < %t.ptx | FileCheck %s --check-prefix=LOOP
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
//
// All kernels that cut items need the same number of zeroed bytes, since they
// may share a workspace.
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=nvvm -o - | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/tile_m = 128/tile_m = 192/; s/split M 2/split M 3/; s/regs 40/regs 32/; s/wg\[2\] warps 4 regs 232/wg[3] warps 4 regs 160/' %s > %t.three.mlir
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.three.mlir --emit=nvvm -o - | FileCheck %s --check-prefix=PLAN
//
// PLAN: launch.variant workspace add({{.*}}) zeroed 33024 
//
// LOOP: loop 2: scores untouched
//
// WS: %[[WHOLE:.*]], %[[PARTS:.*]] = tile.cut
// WS: ws.take_item {{.*}} section({{.*}}) cut(%[[WHOLE]], %[[PARTS]])
// WS: tile.part_of
// WS: tile.join %{{.*}} of %[[PARTS]]
//
// All lanes have written before one announces the part, and none reads before
// that lane has seen the announcement.
// PTX: ld.acquire.gpu.global.b32
// PTX: bar.warp.sync
// PTX: ld.global.v4.b32
// PTX: st.global.v4.b32
// PTX: bar.warp.sync
// PTX: fence.{{acq_rel|release}}.gpu
// PTX-NEXT: atom.global.add.u32

attn.table_entry fwd @last_wave head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, last_wave_parts = 4>
    schedule <"last_wave" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { join fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
