// Forward, head dims 48, sm_90a, for the masks causal.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d48_causal: 1.049 times as fast as the table's kernel before (0.997 to 1.078 by
// shape).
// fwd_d48_causal: first of 16 at 32x512x40, 16x1024x40, 4x4096x40, 1x16384x40; the
// next of them, w4_n64_q2k4v4_dynamic_longest16_first_skip_right_load32, has 0.998 of
// its speed. Rounds of a shape lie at most 2.5% apart.
// Found as w4_n64_q2k2v2_dynamic_longest16_first_skip_right_load32 by attn-tune,
// compiler 086707f7806ae485, attn 0.1.0.
attn.table_entry fwd @fwd_d48_causal head_dim 48, 48
    masks ["causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 256, tile_n = 64, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d48_causal" machine "sm_90a" {
  split M 4 whole(q)
  role load warps 1 regs 32
  role wg[4] warps 4 regs 112
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
