// Three entries for head dim 64, tried in order: few keys, few keys and many rows
// under a causal mask only, and all else.
attn.table_entry fwd @few_keys head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 128>
    config <tile_m = 128, tile_n = 64, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"few_keys" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 3
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk pv + 1 give(tc) + 1 score mask stat exp sum cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
attn.table_entry fwd @many_rows head_dim 64, 64
    masks ["causal_bottom_right"]
    when <seqlen_k at_most 512 and rows above 1000>
    config <tile_m = 128, tile_n = 128, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"many_rows" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 3
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk pv + 1 give(tc) + 1 score mask stat exp sum cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
attn.table_entry fwd @all_else head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 192, tile_n = 128, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"all_else" machine "sm_90a" {
  split M 3 whole(q)
  remat(next)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan q = q in smem depth 1
  chan k = k in smem depth 3
  chan v = v in smem depth 3
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk pv + 1 give(tc) + 1 score mask stat exp sum cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
