// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp of its own stores O while the consumers continue: from the memory of V, also in a cluster,
// from that of Q, and from memory of O's own. CTAs run one item or several; some items have
// no keys; some are run again, and the warp stores their second O over the first.
//
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=128 --mask=none > %t.mlir
// RUN: attn-compile %t.mlir --schedule=%s -o %t.pair.attn
// RUN: attn-run %t.pair.attn --device=sim --check --guard --seeds=4 --sm-count=2 --q=1x600x1x128 --kv=1x200x1x128
// RUN: attn-run %t.pair.attn --device=sim --check --guard --seeds=4 --sm-count=2 --q=1x600x1x128 --kv=1x200x1x128 --inputs=spike-key:10
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=128 --mask=causal_bottom_right > %t.mlir
// RUN: attn-compile %t.mlir --schedule=%s -o %t.over_v.attn
// RUN: attn-run %t.over_v.attn --device=sim --check --guard --seeds=4 --sm-count=2 --q=1x400x2x128 --kv=1x200x1x128
// RUN: attn-run %t.over_v.attn --device=sim --check --guard --seeds=4 --sm-count=1 --q=1x300x2x128 --kv=1x300x1x128 --inputs=spike-key:200
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=128 --mask=window_bottom_right --bound=window_left > %t.mlir
// RUN: attn-compile %t.mlir --schedule=%s -o %t.over_q.attn
// RUN: attn-run %t.over_q.attn --device=sim --check --guard --seeds=4 --q=1x400x2x128 --kv=1x200x1x128 --scalar=window_left=150
// RUN: attn-run %t.over_q.attn --device=sim --check --guard --seeds=4 --q=1x300x2x128 --kv=1x300x1x128 --scalar=window_left=290 --inputs=spike-key:200
// RUN: %python %attn_root/test/Inputs/attention_ir.py --head-dim=128 --mask=causal_top_left > %t.mlir
// RUN: attn-compile %t.mlir --schedule=%s -o %t.own.attn
// RUN: attn-run %t.own.attn --device=sim --check --guard --seeds=4 --sm-count=2 --q=1x300x2x128 --kv=1x420x1x128
// RUN: attn-run %t.own.attn --device=sim --check --guard --seeds=4 --sm-count=1 --q=1x300x2x128 --kv=1x0x1x128
// RUN: attn-run %t.own.attn --device=sim --check --guard --seeds=4 --sm-count=1 --q=1x300x2x128 --kv=1x300x1x128 --inputs=spike-key:200
//
// The consumers do not store O. They wait until its memory has been read only
// before they write the next O there.
// RUN: attn-compile %t.mlir --schedule=%s --emit=ws -o - | FileCheck %s --check-prefix=WS
// WS: ws.role @store warps 1
// WS: ws.wait_edge @o_ready
// WS: ws.store @oe
// WS: ws.store @oe
// WS-NEXT: ws.await_store
// WS: ws.signal @o_free
// WS: ws.role @wg
// WS-NOT: ws.await_store
// WS: ws.wait_edge @o_free
// WS-NOT: ws.await_store
// WS: ws.put {{.*}} in @oe
// WS-NEXT: ws.signal @o_ready
// WS-NOT: ws.store
// WS-NOT: ws.await_store
//
// The warp reads writes that were made visible to copies and to all lanes, and
// its second results come after its first ones.
// RUN: attn-compile %t.mlir --schedule=%s --emit=llvm -o %t.llvm.mlir
// RUN: sed '/nvvm.fence.proxy/d' %t.llvm.mlir > %t.mutant.mlir
// RUN: not attn-run %t.mutant.mlir --device=sim --q=1x300x2x128 | FileCheck %s --check-prefix=FENCE
// FENCE: writes: they are ordered, but without a fence.proxy.async [proxy.missing-fence]
// RUN: sed '/nvvm.bar.warp.sync/d' %t.llvm.mlir > %t.mutant.mlir
// RUN: not attn-run %t.mutant.mlir --device=sim --q=1x300x2x128 | FileCheck %s --check-prefix=LANES
// LANES: writes: neither is ordered before the other [race.shared]
// RUN: sed '/nvvm.cp.async.bulk.wait_group 0$/d' %t.llvm.mlir > %t.mutant.mlir
// RUN: not attn-run %t.mutant.mlir --device=sim --sm-count=1 --q=1x300x2x128 --inputs=spike-key:200 | FileCheck %s --check-prefix=FIRST
// FIRST: writes: no cp.async.bulk.wait_group without .read for it is before this [async.store-not-awaited]
//
// One thread stores, so a warpgroup is too much. Its registers alone would be
// enough: the role has no places in them.
// RUN: sed -e 's/warps 1 regs [0-9]*/warps 1 regs 24/; s/role store warps 1/role store warps 4/; s/warps 4 regs 232/warps 4 regs 224/' %s > %t.four.mlir
// RUN: not attn-compile %t.mlir --schedule=%t.four.mlir -o %t.four.attn 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR: V29: expected a schedule that machine 'sm_90a' has a lowering for, got role 'store' of 1 x 4 warps, which one thread runs ('odd_role')

attn.table_entry fwd @store_warp_pair head_dim 128, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"store_warp_pair" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role store warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  turn tc ring wg
  sync drain ring wg
  edge o_ready
  edge o_free credits 1 scope cluster
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body store {
    after { wait(o_ready) st_o[0] st_o[1] await(st_o[0]) await(st_o[1]) sig(o_free) }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o sig(o_ready) st_lse }
  }
}>

attn.table_entry fwd @store_warp_over_v head_dim 128, 128
    masks ["causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"store_warp_over_v" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 56
  role store warps 1 regs 56
  role wg[2] warps 4 regs 224
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  turn tc ring wg
  sync drain ring wg
  edge o_ready
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body store {
    after { wait(o_ready) st_o[0] st_o[1] await(st_o[0]) await(st_o[1]) sig(o_free) }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o sig(o_ready) st_lse }
  }
}>

attn.table_entry fwd @store_warp_over_q head_dim 128, 128
    masks ["window"]
    config <tile_m = 128, tile_n = 128, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"store_warp_over_q" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role store warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1 free_implied
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over q
  turn tc ring wg
  sync drain ring wg
  edge o_ready
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : wait(o_free) once : ld_q ld_v + 1 }
  }
  body store {
    after { wait(o_ready) st_o[0] st_o[1] await(st_o[0]) await(st_o[1]) sig(o_free) }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o sig(o_ready) st_lse }
  }
}>

attn.table_entry fwd @store_warp head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"store_warp" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 56
  role store warps 1 regs 56
  role wg[2] warps 4 regs 224
  chan work = w in smem depth 2
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  edge o_ready
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body store {
    after { wait(o_ready) st_o[0] st_o[1] await(st_o[0]) await(st_o[1]) sig(o_free) }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm wait(o_free) cvt_o sig(o_ready) st_lse }
  }
}>
