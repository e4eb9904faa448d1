// Forward, head dims 192, sm_90a, for the masks causal, up to 4096 keys.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d192_causal: 1.018 times as fast as the table's kernel before (0.979 to 1.039 by
// shape).
// fwd_d192_causal: first of 20 at 32x512x12, 16x1024x12, 4x4096x12; the next of them,
// w2_n64_q1k2v2_dynamic_longest16_first_skip_right_load40, has 0.985 of its speed.
// Rounds of a shape lie at most 18.1% apart.
// Found as w2_n64_q1k2v2_dynamic_longest16_first_skip_right_items1_load40 by attn-
// tune, compiler 086707f7806ae485, attn 0.1.0.
// Since then, sections of 4 MiB in place of 16: 1.122 times as fast at 32x512x16, 1.009 at 16x1024x16, 1.005 at 4x4096x16
// and 1.002 at 2x512x16 (2026-11-28, H200, bf16). Not measured with windows.
attn.table_entry fwd @fwd_d192_causal_4096 head_dim 192, 192
    masks ["causal_top_left", "causal_bottom_right", "window"]
    when <seqlen_k at_most 4096>
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 4, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d192_causal_4096" machine "sm_90a" {
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
// Forward, head dims 192, sm_90a, causal masks, above 4096 keys: blocks of 80 keys in pairs of CTAs, beside which O has room
// of its own. Measured 2026-11-28 on one NVIDIA H200 (driver 580.159.04), 3 rounds of slices of 12 ms, 16384 tokens of 16
// heads, in bf16: 1.081 times as fast as blocks of 96 keys at 8192 tokens, and 1.015 as blocks of 112 keys at 16384, which
// were 1.00 to 1.01 in f16 and 1.02 to 1.03 in bf16 of those of 96 keys in earlier runs. Windows keep blocks of 96 keys:
// they were not measured with others.
attn.table_entry fwd @fwd_d192_causal_long head_dim 192, 192
    masks ["causal_top_left", "causal_bottom_right"]
    when <seqlen_k above 4096>
    config <tile_m = 128, tile_n = 80, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d192_causal_long" machine "sm_90a" {
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
// Forward, head dims 192, sm_90a, for the masks causal.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d192_causal: 1.032 times as fast as the table's kernel before (1.032 to 1.032 by
// shape).
// fwd_d192_causal: first of 20 at 1x16384x12; the next of them,
// w2_n96_q1k2v2_dynamic_longest32_first_o_over_v_cluster2_skip_right_items1_load40,
// has 0.995 of its speed. Rounds of a shape lie at most 4.1% apart.
// Found as
// w2_n96_q1k2v2_dynamic_longest32_first_o_over_q_cluster2_skip_right_items1_load40 by
// attn-tune, compiler 086707f7806ae485, attn 0.1.0.
// Since then, blocks with masks have a loop of their own: 1.02 to 1.04 times as fast at 1x16384x16, f16.
attn.table_entry fwd @fwd_d192_causal head_dim 192, 192
    masks ["causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 96, work = dynamic, order = longest_first, section_mib = 32, rescale_threshold = 8, row_max = first_block, cluster = 2>
    schedule <"fwd_d192_causal" machine "sm_90a" {
  split M 2 whole(q)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan work = w in smem depth 1
  chan q = q in smem depth 1 free_implied
  chan k = k in smem depth 2 scope cluster
  chan v = v in smem depth 2 scope cluster
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over q
  turn tc ring wg
  sync drain ring wg
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  knob skip right
  knob launch dependent
  body load {
    before { next }
    kv { ld_k once : wait(o_free) once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>
