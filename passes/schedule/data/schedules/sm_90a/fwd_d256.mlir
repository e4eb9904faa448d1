// Forward, head dims 256, sm_90a: two consumer warpgroups. O takes half of a thread's
// registers, and is staged over V, so that the next Q can come early.
// Causal: turns pay between 512 and 2048 keys; beyond, CTAs in pairs that load each tile of K
// and V once.
attn.table_entry fwd @fwd_d256_none head_dim 256, 256
    masks ["none"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d256_none" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  turn tc ring wg
  sync drain ring wg
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>

attn.table_entry fwd @fwd_d256_causal_512 head_dim 256, 256
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 512>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 8, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d256_causal_512" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  sync drain ring wg
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>

attn.table_entry fwd @fwd_d256_causal_2048 head_dim 256, 256
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 2048>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d256_causal_2048" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  turn tc ring wg
  sync drain ring wg
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>

attn.table_entry fwd @fwd_d256_causal head_dim 256, 256
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d256_causal" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 3 scope cluster
  chan v = v in smem depth 2 scope cluster
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over v
  sync drain ring wg
  edge o_free credits 1 scope cluster
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>

attn.table_entry fwd @fwd_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d256" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
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
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q once : wait(o_free) ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>
