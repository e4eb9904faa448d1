// All gradients, for head dim 96: each of two warpgroups has 64 keys, and adds half of the columns of each share of dQ to memory.
// P and dX have a half each of the registers of the scores. dV is multiplied while the warpgroups meet.
attn.table_entry bwd @bwd_d96 head_dim 96, 96
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, work = grid, order = shortest_last, section_mib = 12>
    schedule <"bwd_d96" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  remat(next)
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q + lse + dl in smem depth 2
  chan do = do in smem depth 2
  hold pds = p | ds in reg depth 2
  hold s = s in reg over pds
  hold dp = dp in reg depth 1
  hold dq = dq in reg over dp
  hold dss = dss in smem depth 2
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem depth 1
  hold dve = dve in smem depth 1
  sync put ring wg
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
  }
  body wg {
    kv { qk dp score mask exp cvt_p dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk put_dq red_dq await(red_dq) }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
