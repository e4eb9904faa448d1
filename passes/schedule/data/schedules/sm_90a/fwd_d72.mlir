// Forward, head dims 72, sm_90a, without a mask and causal: pairs of CTAs, which load K and V once. Copies of rows of 144
// bytes take long, and with pairs each CTA makes half of them. A pair has two blocks of 128 rows of one head, so that an odd
// number of blocks leaves one CTA without rows: short sequences keep tiles of 192 rows without pairs.
// Measured 2026-11-28 on one NVIDIA H200 (driver 580.159.04), 3 rounds of slices of 12 ms, 16384 tokens of 16 heads, to the
// entries without pairs below: 1.135, 1.085 and 0.987 times as fast at 512, 1024 and 2048 tokens, causal 1.144, 1.21 and
// 1.034. On one NVIDIA H100, for whose sake 2048 tokens have pairs too, to the last entry: 1.285, 1.284 and 1.173, causal
// 1.333, 1.372 and 1.203. No odd number of blocks was measured.
attn.table_entry fwd @fwd_d72_2048 head_dim 72, 72 exact
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_q above 384 and seqlen_k at_most 2048>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, cluster = 2, tile_d = 96, tile_dv = 96>
    schedule <"fwd_d72_2048" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 3 scope cluster
  chan v = v in smem depth 3 scope cluster
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

// Up to 384 queries on up to 512 keys of many rows, three warpgroups without pairs, and blocks of 64 keys, which divide such
// sequences evenly and of which a causal mask leaves fewer scores unused. Measured 2026-11-27, 5 rounds of slices of 20 ms:
// 1.015 times as fast as blocks of 80 at 512 tokens, causal 1.056.
attn.table_entry fwd @fwd_d72_512 head_dim 72, 72 exact
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_k at_most 512 and rows above 16896>
    config <tile_m = 192, tile_n = 64, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, tile_d = 96, tile_dv = 96>
    schedule <"fwd_d72_512" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan work = w in smem depth 2
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

// Above 2048 keys three warpgroups, in pairs too: 1.053, 1.025 and 1.054 times as fast at 4096, 8192 and 16384 tokens, causal
// 1.027, 1.005 and 1.041, in the same run; on an H100 1.261, 1.257 and 1.322, causal 1.197, 1.203 and 1.233. A pair has 384
// rows, which fewer queries often leave half empty.
attn.table_entry fwd @fwd_d72_long head_dim 72, 72 exact
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_q above 1536 and seqlen_k above 2048>
    config <tile_m = 192, tile_n = 80, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, cluster = 2, tile_d = 96, tile_dv = 96>
    schedule <"fwd_d72_long" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 56
  role wg[3] warps 4 regs 152
  chan work = w in smem depth 2
  chan q = q in smem depth 2
  chan k = k in smem depth 3 scope cluster
  chan v = v in smem depth 3 scope cluster
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

// The entry of head dim 96, for all others.
attn.table_entry fwd @fwd_d72 head_dim 72, 72 exact
    masks ["none", "causal_top_left", "causal_bottom_right"]
    config <tile_m = 192, tile_n = 80, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, tile_d = 96, tile_dv = 96>
    schedule <"fwd_d72" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
  chan work = w in smem depth 2
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
