// Forward, head dims 64, sm_90a. Four consumer warpgroups of 64 rows each leave
// little of a thread's registers beside the scores of 64 keys. A file of a user
// (--schedule) ends with an entry for all masks: the last one here is that.
attn.table_entry fwd @fwd_d64_none head_dim 64, 64
    masks ["none"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d64_none" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 4
  chan v = v in smem depth 4
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_branch
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @fwd_d64_causal head_dim 64, 64
    masks ["causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d64_causal" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 4
  chan v = v in smem depth 4
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob skip both
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @fwd_d64 head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d64" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 2
  chan k = k in smem depth 4
  chan v = v in smem depth 4
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
