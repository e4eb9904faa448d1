// All gradients, with one order of additions to dQ, for windows, functions and dropout at head dim 128: an item for each CTA. A thread
// waits for the turn of each block of queries, and passes it on when both warpgroups have added.
attn.table_entry bwd_ordered @bwd_ordered_d128 head_dim 128, 128
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, first_share = stored, work = grid>
    schedule <"bwd_ordered_d128" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  remat(next)
  role load warps 1 regs 24
  role turns warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q + lse + dl in smem depth 2
  chan do = do in smem depth 2
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  hold p = p in reg over s
  hold ds = ds in reg depth 1
  hold dss = dss in smem depth 2
  hold dq = dq in reg over dp
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem depth 1
  hold dve = dve in smem depth 1
  sync put ring wg
  edge turn credits 0
  edge added credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    kv { ld_q ld_lse ld_dl once : ld_k ld_do once : ld_v }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { dp + 1 score + 1 mask + 1 exp + 1 cvt_p + 1 mm_dv + 1 dsoft + 1 cvt_ds + 1 put_ds + 1 sync(put) + 1 mm_dq + 1 await(mm_dv) + 1 qk
        mm_dk + 1 put_dq + 1 wait(turn) + 1 red_dq + 1 sig(added) + 1 await(red_dq) + 1 }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
