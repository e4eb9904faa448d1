// Derivatives by a capture, added to any elements, head dims up to 256, rung 1: registers for a function of the user.
attn.table_entry bwd_elements @bwd_elements_d256_rung1 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 16, work = grid, rung = 1>
    schedule <"bwd_elements_d256_rung1" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 24
  role wg warps 4 regs 240
  chan q = q in smem depth 1
  chan do = do in smem depth 1
  chan k = k in smem depth 2
  chan v = v in smem depth 2
  hold lse = lse in reg depth 1
  hold dl = dl in reg depth 1
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v once : ld_do }
  }
  body wg {
    before { ld_lse ld_dl await(ld_dl) }
    kv { qk dp score mask exp dsoft st }
  }
}>
