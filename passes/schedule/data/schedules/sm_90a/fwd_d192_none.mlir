// Forward, head dims 192, sm_90a, for the masks none, up to 4096 keys.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d192_none: 1.091 times as fast as the table's kernel before (1.012 to 1.160 by
// shape).
// fwd_d192_none: first of 20 at 32x512x12, 16x1024x12, 4x4096x12; the next of them,
// w2_n64_q1k2v2_dynamic_longest16_first_skip_right_items1_load40, has 0.993 of its
// speed. Rounds of a shape lie at most 4.4% apart.
// Found as w2_n64_q1k2v2_dynamic_longest16_first_items1_load40 by attn-tune, compiler
// 086707f7806ae485, attn 0.1.0.
// Since then, items in order: 1.035 times as fast at 32x512x16, 1.042 at 16x1024x16 and 1.013 at 4x4096x16 (2026-11-28, H200,
// bf16).
attn.table_entry fwd @fwd_d192_none_4096 head_dim 192, 192
    masks ["none"]
    when <seqlen_k at_most 4096>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_none_4096" machine "sm_90a" {
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
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
// Above 4096 keys blocks of 80 keys in pairs of CTAs: O has room of its own beside them, so that an item need not wait until
// the one before has left V's. Measured 2026-11-28 on one NVIDIA H200 (driver 580.159.04), 3 rounds of slices of 12 ms,
// 16384 tokens of 16 heads: 1.022 and 1.043 times as fast as blocks of 96 keys at 8192 and 16384 tokens. Functions of masks
// and scores use it too, and were not measured.
attn.table_entry fwd @fwd_d192_none head_dim 192, 192
    masks ["none"]
    config <tile_m = 128, tile_n = 80, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d192_none" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
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
    after { fin check norm await(st_o) + 1 cvt_o st_o st_lse }
  }
}>
