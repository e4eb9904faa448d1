// dQ, head dims up to 256: the tiles of one warpgroup fill the shared memory.
attn.table_entry bwd_dq @bwd_dq_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 32, work = grid, order = shortest_last, section_mib = 16>
    schedule <"bwd_dq_d256" machine "sm_90a" {
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
  hold ds = ds in reg depth 1
  hold dq = dq in reg
  hold dqe = dqe in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_k once : ld_q ld_v once : ld_do }
  }
  body wg {
    before { ld_lse ld_dl await(ld_dl) }
    kv { qk dp score mask exp dsoft cvt_ds mm_dq }
    after { await(st_dq) + 1 cvt_dq st_dq }
  }
}>
