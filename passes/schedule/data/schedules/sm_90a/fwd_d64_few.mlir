// Forward, head dims 64, sm_90a, at most 16 queries: the query heads of a head of K and V share the 64 rows of one
// consumer warpgroup, so that K and V are read once, in one ring; an item is cut in up to 64 parts along the keys. Two CTAs
// fit on a multiprocessor, so that a launch starts beside the one before.
// More than 64 rows are one item of two consumer warpgroups, so that K and V are read once there, too; that entry is
// for problems that fill more than half of its tile (attn-configure).
attn.table_entry fwd @fwd_d64_few_wide head_dim 64, 64 packed
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_q above 8 and seqlen_q at_most 16>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, last_wave_parts = 64>
    schedule <"fwd_d64_few_wide" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 2
  chan q = q in smem depth 1
  chan k = k in smem depth 4
  chan v = v in smem depth 4
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  turn tc ring wg
  knob exp2_soft 0 of 1
  knob peel first_branch
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

attn.table_entry fwd @fwd_d64_few head_dim 64, 64 packed
    masks ["none", "causal_top_left", "causal_bottom_right"]
    when <seqlen_q at_most 16>
    config <tile_m = 64, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, last_wave_parts = 64>
    schedule <"fwd_d64_few" machine "sm_90a" {
  role load warps 1 regs 88
  role wg warps 4 regs 168
  chan work = w in smem depth 2
  chan q = q in smem depth 1
  chan kv = k | v in smem depth 4
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  knob launch dependent
  body load {
    before { next }
    kv { ld_k once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) qk get(v) + 1 pv + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { join fin norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
