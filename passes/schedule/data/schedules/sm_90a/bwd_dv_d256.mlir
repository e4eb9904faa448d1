// dV, head dims up to 256: each of two warpgroups has 64 keys, whose sums take half of its registers. The scores of the next block
// are computed beside the product of this one. dV waits to be stored where K was.
attn.table_entry bwd_dv @bwd_dv_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, work = grid, order = shortest_last, section_mib = 16>
    schedule <"bwd_dv_d256" machine "sm_90a" {
  split M 2 whole(k)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan q = q + lse in smem depth 2
  chan do = do in smem depth 2
  hold s = s in reg depth 1
  hold p = p in reg depth 1
  hold dv = dv in reg
  hold dve = dve in smem over k
  sync end ring wg
  edge k_free credits 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    kv { ld_q ld_lse once : wait(k_free) once : ld_k ld_do }
  }
  body wg {
    kv { qk mm_dv + 1 score mask exp await(mm_dv) + 1 cvt_p }
    after { sync(end) cvt_dv st_dv await(st_dv) sig(k_free) }
  }
}>
