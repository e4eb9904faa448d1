// dK, head dims up to 256,
// whose sums fill half of the registers of a warpgroup.
attn.table_entry bwd_dk @bwd_dk_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 48, work = grid, order = shortest_last, section_mib = 16>
    schedule <"bwd_dk_d256" machine "sm_90a" {
  remat(next)
  role load warps 1 regs 24
  role wg warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q in smem depth 2
  chan do = do in smem depth 2
  hold lse = lse in reg depth 1
  hold dl = dl in reg depth 1
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  hold ds = ds in reg over dp
  hold dk = dk in reg
  hold dke = dke in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_q once : ld_k ld_do once : ld_v }
  }
  body wg {
    kv { qk ld_lse dp await(ld_lse) score mask exp ld_dl await(ld_dl) dsoft cvt_ds mm_dk }
    after { await(st_dk) + 1 cvt_dk st_dk }
  }
}>
