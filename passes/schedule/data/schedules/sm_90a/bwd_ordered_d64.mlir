// All gradients, with one order of additions to dQ, for head dim 64: as without an order, but a thread waits for the turn of each block
// of queries, and passes it on when both warpgroups have added.
//
// P and dX have the registers of the scores in turn, and polynomials compute a quarter of the exponentials. Statistics have channels of their
// own: in that of Q they leave too few registers for the turns.
attn.table_entry bwd_ordered @bwd_ordered_d64 head_dim 64, 64
    masks ["none", "causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 128, work = grid>
    schedule <"bwd_ordered_d64" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : N, dqe : N)
  remat(next)
  role load warps 1 regs 24
  role turns warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q in smem depth 2
  chan lse = lse in smem depth 2 free_implied
  chan dl = dl in smem depth 2 free_implied
  chan do = do in smem depth 2
  hold s = s in reg depth 1
  hold dp = dp in reg depth 1
  hold p = p in reg over s
  hold ds = ds in reg over s
  hold dss = dss in smem depth 2
  hold dq = dq in reg over dp
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem depth 1
  hold dve = dve in smem depth 1
  sync put ring wg
  edge turn credits 0
  edge added credits 0
  knob exp2_soft 1 of 4
  knob peel first_masked
  body load {
    kv { ld_q ld_lse once : ld_k ld_do ld_dl once : ld_v }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { qk dp score mask exp cvt_p mm_dv dsoft await(mm_dv) cvt_ds put_ds sync(put) mm_dq mm_dk put_dq wait(turn) red_dq sig(added) await(red_dq) }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
