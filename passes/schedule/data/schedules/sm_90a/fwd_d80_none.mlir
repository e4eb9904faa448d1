// Forward, head dims 80, sm_90a, for the masks none.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices
// of 60 ms.
// fwd_d80_none: 1.097 times as fast as the table's kernel before (1.049 to 1.133 by
// shape).
// fwd_d80_none: first of 20 at 32x512x24, 16x1024x24, 4x4096x24, 1x16384x24; the next
// of them, w3_n64_q2k3v3_dynamic_longest16_first_skip_right, has 0.999 of its speed.
// Rounds of a shape lie at most 5.0% apart.
// Found as w3_n80_q2k3v3_dynamic_longest16_first by attn-tune, compiler
// 086707f7806ae485, attn 0.1.0.
// Head dim 72 ends within a panel of these tiles, so that each panel would be a copy: `exact` leaves
// it to the tiles of 96 columns, at which it has 1.06 times the speed without a mask.
attn.table_entry fwd @fwd_d80_none head_dim 80, 80 exact
    masks ["none"]
    config <tile_m = 192, tile_n = 80, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d80_none" machine "sm_90a" {
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
