// Forward, head dims 112, sm_90a, without a mask. Tiles of 112 columns lie in panels of 32 bytes, those of
// 128 in panels of 128 bytes, of which one copy moves more: short launches are faster so. Head dim 104
// ends within a panel, so that each panel would be a copy: `exact` leaves it to the tiles of 128 columns.
// Measured 2026-11-23 on NVIDIA H200 (driver 580.159.04, 700.00 W), 3 rounds of slices of 60 ms, 16 heads
// and 16384 tokens: 128 columns have 1.146 of the speed of 112 at 512 keys, 1.050 at 1024 and 0.936 to 0.973 above.
attn.table_entry fwd @fwd_d112_none_1024 head_dim 112, 112 exact
    masks ["none"]
    when <seqlen_k at_most 1024>
    config <tile_m = 128, tile_n = 128, work = dynamic, order = linear, rescale_threshold = 8, row_max = first_block, tile_d = 128, tile_dv = 128>
    schedule <"fwd_d112_none_1024" machine "sm_90a" {
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
attn.table_entry fwd @fwd_d112_none head_dim 112, 112 exact
    masks ["none"]
    config <tile_m = 192, tile_n = 80, work = dynamic, order = longest_first, section_mib = 16, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d112_none" machine "sm_90a" {
  split M 3 whole(q)
  role load warps 1 regs 32
  role wg[3] warps 4 regs 160
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
