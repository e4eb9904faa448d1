// Derivatives by a capture at each pair, head dims up to 128, rung 1: registers for a function of the user.
attn.table_entry bwd_pairs @bwd_pairs_d128_rung1 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 32, work = grid, rung = 1>
    schedule <"bwd_pairs_d128_rung1" machine "sm_90a" {
  split M 2 whole(q, do)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan q = q in smem depth 2
  chan do = do in smem depth 2
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold lse = lse in reg depth 1
  hold dl = dl in reg depth 1
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_q ld_k ld_do ld_v }
  }
  body wg {
    kv { qk ld_lse dp await(ld_lse) score mask exp ld_dl await(ld_dl) dsoft add st }
  }
}>
