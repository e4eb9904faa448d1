// All gradients, with one order of additions to dQ, without a mask, for head dim 64: persistent, so that the loads of the next item run beside the end of
// the one before (docs/adr/0103-persistent-ctas-may-take-turns.md). A warp of its own hands out the items. A thread waits for the turn of each block of
// queries, and passes it on when both warpgroups have added. Relative to an item for each CTA, 1.12, 1.07, 1.06, 1.03, 1.00 and 0.99 times as fast from 512
// to 16,384 positions (2026-11-29, one H200).
attn.table_entry bwd_ordered @bwd_ordered_d64_none head_dim 64, 64
    masks ["none"]
    config <tile_m = 128, tile_n = 128, first_share = stored, work = dynamic>
    schedule <"bwd_ordered_d64_none" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : N, dqe : N)
  role items warps 1 regs 24
  role load warps 1 regs 24
  role turns warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan work = w in smem depth 1
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
  edge issued credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body items {
    before { next }
    after { wait(issued) }
  }
  body load {
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
    after { sig(issued) }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { qk dp score mask exp cvt_p dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk put_dq wait(turn) red_dq sig(added) await(red_dq) }
    after { await(st_dv) + 1 await(st_dk) cvt_dv st_dv cvt_dk st_dk }
  }
}>
