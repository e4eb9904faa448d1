// Forward, head dims 192, sm_90a: two consumer warpgroups. O is staged over V.
attn.table_entry fwd @fwd_d192 head_dim 192, 192
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 96, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192" machine "sm_90a" {
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
