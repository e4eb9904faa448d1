// All gradients, with one order of additions to dQ, for head dim 96: an item for each CTA. A thread waits for the turn of each block
// of queries, and passes it on when both warpgroups have added.
attn.table_entry bwd_ordered @bwd_ordered_d96 head_dim 96, 96
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 128, tile_n = 64, first_share = stored, work = grid>
    schedule <"bwd_ordered_d96" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  remat(next)
  role load warps 1 regs 24
  role turns warps 1 regs 24
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
  edge turn credits 0
  edge added credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body load {
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { qk dp score mask exp cvt_p dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk put_dq wait(turn) red_dq sig(added) await(red_dq) }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
