// Forward, head dims 256, with a region of the user's that reads captured tensors
// at positions: smaller blocks of keys leave registers for what it reads.
attn.table_entry fwd @fwd_d256_region head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "region"]
    config <tile_m = 128, tile_n = 32, work = grid, order = linear, rescale_threshold = 8, row_max = first_block>
    schedule <"fwd_d256_region" machine "sm_90a" {
  split M 2 whole(q)
  remat(next)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
  chan q = q in smem depth 1 free_implied
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold p = p in reg depth 1
  hold s = s in reg depth 1
  hold o = o in reg
  hold oe = oe in smem over q
  turn tc ring wg
  sync drain ring wg
  edge o_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_branch
  body load {
    kv { ld_k once : wait(o_free) once : ld_q ld_v + 1 }
  }
  body wg {
    kv { get(k) take(tc) + 1 qk get(v) + 1 pv + 1 give(tc) + 1 score mask stat exp sum await(pv) + 1 cvt rescale }
    after { fin check norm sync(drain) cvt_o st_o st_lse await(st_o) sig(o_free) }
  }
}>
