// dK and dV, head dims up to 64: a warpgroup has 64 keys.
attn.table_entry bwd_dk_dv @bwd_dk_dv_d64 head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 64, work = grid, order = shortest_last, section_mib = 4>
    schedule <"bwd_dk_dv_d64" machine "sm_90a" {
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
  hold p = p in reg over s
  hold ds = ds in reg over dp
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem depth 1
  hold dve = dve in smem depth 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_q once : ld_k ld_do once : ld_v }
  }
  body wg {
    kv { qk ld_lse dp await(ld_lse) score mask exp cvt_p mm_dv ld_dl await(ld_dl) dsoft cvt_ds mm_dk }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
