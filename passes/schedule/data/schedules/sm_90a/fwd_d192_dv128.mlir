// Forward, head dims 192 of Q and K and 128 of V, sm_90a. Without a mask CTAs in pairs load
// each tile of K and V once; causal, two consumer warpgroups up to 1024 keys, then three.
attn.table_entry fwd @fwd_d192_dv128_none_512 head_dim 192, 128
    masks ["none"]
    when <seqlen_k at_most 512>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_dv128_none_512" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role store warps 1 regs 40
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
  edge o_ready
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
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

attn.table_entry fwd @fwd_d192_dv128_none head_dim 192, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d192_dv128_none" machine "sm_90a" {
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
  knob peel first_branch
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

attn.table_entry fwd @fwd_d192_dv128_causal_1024 head_dim 192, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 1024>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_dv128_causal_1024" machine "sm_90a" {
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
  hold oe = oe in smem over v
  turn tc ring wg
  sync drain ring wg
  edge o_ready
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
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

attn.table_entry fwd @fwd_d192_dv128_causal head_dim 192, 128
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 192, tile_n = 64, work = dynamic, order = longest_first, section_mib = 40, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_dv128_causal" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip right
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @fwd_d192_dv128 head_dim 192, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 112, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_dv128" machine "sm_90a" {
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
