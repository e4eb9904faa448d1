// Forward, head dims 104, sm_90a, causal masks: the entries of head dim 128, but three consumer warpgroups for many rows
// of any number of keys. The copies of rows of 208 bytes take long, and these load K and V less often.
// Measured 2026-11-27 on one NVIDIA H200 (driver 580.159.04), 5 rounds of slices of 20 ms: 1.047 and 1.048 of the speed of two at 512 and 1024 tokens.
attn.table_entry fwd @fwd_d104_causal_cut head_dim 104, 104 exact
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k above 1024 and rows at_most 8448>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, tile_d = 128, tile_dv = 128, last_wave_parts = 16>
    schedule <"fwd_d104_causal_cut" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
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
  knob launch dependent
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { join fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

attn.table_entry fwd @fwd_d104_causal_many head_dim 104, 104 exact
    masks ["causal_top_left", "causal_bottom_right"]
    when <rows above 67584>
    config <tile_m = 192, tile_n = 64, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, tile_d = 128, tile_dv = 128>
    schedule <"fwd_d104_causal_many" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan work = w in smem depth 1
  chan q = q in smem depth 2
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

attn.table_entry fwd @fwd_d104_causal_short head_dim 104, 104 exact
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 512>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, tile_d = 128, tile_dv = 128>
    schedule <"fwd_d104_causal_short" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
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
  knob peel first_masked
  knob skip right
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

attn.table_entry fwd @fwd_d104_causal_rest head_dim 104, 104 exact
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, tile_d = 128, tile_dv = 128>
    schedule <"fwd_d104_causal_rest" machine "sm_90a" {
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
  knob peel first_branch
  knob skip right
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
