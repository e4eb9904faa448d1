// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CTAs may start before the launch ahead of them has ended: they set up their
// barriers, and wait for its end before they touch global memory. From then on,
// CTAs of the next launch may start.
//
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --emit=nvvm -o - | FileCheck %s --check-prefix=NVVM
// RUN: sed '/knob launch/d' %s > %t.alone.mlir
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.alone.mlir --emit=nvvm -o - | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/work = dynamic/work = grid/; s/row_max = first_block/row_max = running/; s/ check / /; /chan work/d; /before { next }/d; s/role load/remat(next) role load/' %s > %t.grid.mlir
// RUN: attn-compile %attn_root/test/Inputs/causal_d64.mlir --schedule=%t.grid.mlir --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: %attn-sim %attn_root/test/Inputs/causal_d64.mlir --schedule=%s --q=1x300x2x64 --kv=1x420x1x64 | FileCheck %s --check-prefix=RESULT
//
// Nothing in global memory is touched before the wait.
// PTX-NOT: {{(ld|st|atom|red)\.global|cp\.async\.bulk}}
// PTX: mbarrier.init
// PTX-NOT: {{(ld|st|atom|red)\.global|cp\.async\.bulk}}
// PTX: griddepcontrol.wait;
// PTX: griddepcontrol.launch_dependents;
// PTX-NOT: griddepcontrol
// PTX: cp.async.bulk.tensor.5d.shared::cluster
// PTX-NOT: griddepcontrol
// NVVM: launch.kernel @causal_d64 {{.*}} dependent params [
// NVVM: nvvm.fence.mbarrier.init
// NVVM: nvvm.barrier
// NVVM-NEXT: nvvm.griddepcontrol {{ *}}wait
// NVVM-NEXT: nvvm.griddepcontrol {{ *}}launch_dependents
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global
// NVVM-NOT: nvvm.griddepcontrol
// ALONE-NOT: dependent params
// ALONE-NOT: griddepcontrol
// RESULT: check: passed
// RESULT: guard: passed

attn.table_entry fwd @dependent_launch head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"dependent_launch" machine "sm_90a" {
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
  knob launch dependent
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
