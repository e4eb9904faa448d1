// Forward, head dims 224, sm_90a, for the masks none, causal.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d224_none: 1.097 times as fast as the table's kernel before (1.090 to 1.101 by
// shape).
// fwd_d224_none: first of 19 at 32x512x8, 16x1024x8, 4x4096x8, 1x16384x8; the next of
// them, w2_n64_q1k2v2_dynamic_longest16_first_load40, has 0.993 of its speed. Rounds
// of a shape lie at most 5.6% apart.
// fwd_d224_causal: 1.103 times as fast as the table's kernel before (1.073 to 1.132 by
// shape).
// fwd_d224_causal: first of 19 at 32x512x8, 16x1024x8, 4x4096x8, 1x16384x8; the next
// of them, w2_n64_q1k2v2_dynamic_longest16_first_o_over_v_items1_load40, has 0.980 of
// its speed. Rounds of a shape lie at most 5.3% apart.
// Found as w2_n64_q1k2v2_dynamic_longest16_first_skip_right_items1_load40 by attn-
// tune, compiler 086707f7806ae485, attn 0.1.0.
attn.table_entry fwd @fwd_d224 head_dim 224, 224
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d224" machine "sm_90a" {
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
