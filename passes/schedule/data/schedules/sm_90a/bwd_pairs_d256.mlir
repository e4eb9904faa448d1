// Derivatives by a capture at each pair, head dims up to 256: a warpgroup has 64 queries.
attn.table_entry bwd_pairs @bwd_pairs_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 32, work = grid>
    schedule <"bwd_pairs_d256" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 24
  role wg warps 4 regs 240
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
