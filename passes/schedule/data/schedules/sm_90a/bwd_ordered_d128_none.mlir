// All gradients, with one order of additions to dQ, without a mask, for head dim 128: an item for each CTA, with blocks of 80
// queries. A thread waits for the turn of each of them, and passes it on when both warpgroups have added.
attn.table_entry bwd_ordered @bwd_ordered_d128_none head_dim 128, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 80, share_rows = columns, first_share = stored, work = grid>
    schedule <"bwd_ordered_d128_none" machine "sm_90a" {
  split M 2 whole(k, v) also(dqt : D, dqte : D)
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
  hold dqt = dqt in reg over dp
  hold dss = dss in smem depth 2
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem over k
  hold dve = dve in smem over v
  sync put ring wg
  sync end ring wg
  edge k_free credits 1
  edge v_free credits 1
  edge turn credits 0
  edge added credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body load {
    kv { once : wait(k_free) once : ld_k ld_q once : wait(v_free) once : ld_v ld_do ld_lse ld_dl }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { qk dp score mask exp cvt_p mm_dv dsoft cvt_ds put_ds sync(put) mm_dqt await(mm_dv) mm_dk put_dqt wait(turn) red_dq sig(added) await(red_dq) }
    after { sync(end) cvt_dv st_dv cvt_dk st_dk await(st_dk) sig(k_free) await(st_dv) sig(v_free) }
  }
}>
