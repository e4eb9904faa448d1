// Shares of dQ, and dK, for head dim 256: each of two warpgroups has 64 keys, whose sums take half of its
// registers, and adds half of the columns of each share of dQ to memory, which has the registers of the
// products before. There is room for one block of queries: dO, which is free first, is multiplied first, and
// dK is made before dQ, so that the next Q is loaded meanwhile. dK waits to be stored where K was.
attn.table_entry bwd_dq_dk @bwd_dq_dk_d256 head_dim 256, 256
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, work = grid, order = shortest_last, section_mib = 16>
    schedule <"bwd_dq_dk_d256" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q in smem depth 1
  chan do = do in smem depth 1
  chan lse = lse in smem depth 2 free_implied
  chan dl = dl in smem depth 2 free_implied
  hold s = dp | s in reg depth 2
  hold ds = ds in reg depth 1
  hold dss = dss in smem depth 2
  hold dq = dq in reg over s
  hold dk = dk in reg
  hold dke = dke in smem over k
  sync put ring wg
  sync end ring wg
  edge k_free credits 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    kv { ld_do ld_dl once : ld_v ld_q ld_lse once : wait(k_free) once : ld_k }
  }
  body wg {
    kv { dp qk score mask exp dsoft cvt_ds put_ds mm_dk sync(put) mm_dq await(mm_dk) put_dq red_dq await(red_dq) }
    after { sync(end) cvt_dk st_dk await(st_dk) sig(k_free) }
  }
}>
