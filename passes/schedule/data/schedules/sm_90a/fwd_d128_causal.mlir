// Forward, head dims 128, sm_90a, causal masks: as without a mask (fwd_d128_none.mlir), but up to 512 keys in narrower
// tiles, of which the mask leaves fewer scores unused.
// Measured 2026-11-26 on one NVIDIA H200 (driver 580.159.04), 2 rounds of slices of 12 ms: docs/problem-classes.md.
// Sequences of at most 256 tokens are 1.022 times as fast in linear order as with the longest items first (2026-11-27, 5 rounds of slices of 20 ms),
// and with three items in flight another 1.001 to 1.012 at 64x256x16 (2026-11-28, five races on two H200 and an H100).
attn.table_entry fwd @fwd_d128_causal_cut head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k above 1024 and rows at_most 8448>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, last_wave_parts = 16>
    schedule <"fwd_d128_causal_cut" machine "sm_90a" {
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

// K and V have three slots: 1.01 times as fast as with four, at 64x256x16. The short items of up to 128 heads of K and V end the launch:
// 1.008, 1.017 and 1.002 times as fast as in linear order at 64x256x16, 32x256x16 and 128x256x16 (2026-11-28, one H200, 9 rounds).
attn.table_entry fwd @fwd_d128_causal_256 head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 256 and seqlen_q at_most 256>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d128_causal_256" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 3
  chan q = q in smem depth 2
  chan k = k in smem depth 3
  chan v = v in smem depth 3
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

attn.table_entry fwd @fwd_d128_causal_short head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 512>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d128_causal_short" machine "sm_90a" {
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

attn.table_entry fwd @fwd_d128_causal_many head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k above 1024 and rows above 67584>
    config <tile_m = 192, tile_n = 64, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d128_causal_many" machine "sm_90a" {
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

// At most 128 rows for each multiprocessor: items of 64 rows, which all run side by side if the queries fill them, in two CTAs
// a multiprocessor. No item is taken from a counter. 1.024 times as fast as the last entry at 1x1024x16; with the longest items first, 0.977
// (2026-11-27, 4 rounds of slices of 40 ms).
attn.table_entry fwd @fwd_d128_causal_one head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 1024 and rows at_most 16896>
    config <tile_m = 64, tile_n = 64, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d128_causal_one" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 24
  role wg warps 4 regs 232
  chan q = q in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob launch dependent
  body load {
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>

// Chunks of 512 queries on many keys, one item for each multiprocessor: two CTAs load each block of K and V once. 1.033
// times as fast as the last entry at 512 queries, 32768 keys and 32 heads on 8 (2026-11-27, 4 rounds of slices of 60 ms).
// Such chunks have four blocks of rows for a head, so no CTA is left without a partner.
attn.table_entry fwd @fwd_d128_causal_chunk head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k above 16384 and seqlen_q above 384 and seqlen_q at_most 512 and rows at_most 16896>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d128_causal_chunk" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
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

attn.table_entry fwd @fwd_d128_causal_rest head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d128_causal_rest" machine "sm_90a" {
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
