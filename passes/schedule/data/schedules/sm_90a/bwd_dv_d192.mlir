// dV, head dims up to 192: each of two warpgroups has 64 keys. dV waits to be stored where K was.
attn.table_entry bwd_dv @bwd_dv_d192 head_dim 192, 192
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, work = grid>
    schedule <"bwd_dv_d192" machine "sm_90a" {
  split M 2 whole(k)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan q = q in smem depth 2
  chan do = do in smem depth 2
  hold lse = lse in reg depth 1
  hold s = s in reg depth 1
  hold p = p in reg over s
  hold dv = dv in reg
  hold dve = dve in smem over k
  sync end ring wg
  edge k_free credits 1
  knob exp2_soft 0 of 1
  knob peel first_masked
  body load {
    kv { ld_q once : wait(k_free) once : ld_k ld_do }
  }
  body wg {
    kv { qk ld_lse await(ld_lse) score mask exp cvt_p mm_dv }
    after { sync(end) cvt_dv st_dv await(st_dv) sig(k_free) }
  }
}>
