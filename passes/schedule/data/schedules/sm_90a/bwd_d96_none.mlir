// All gradients without a mask, for head dim 96: the kernel of the other masks (bwd_d96.mlir), but in linear order, since all items are equally
// long, and persistent: the loads of the next item run beside the end of the one before. The items of the last wave are cut into parts along the queries.
// Relative to one item for each CTA, from 512 to 16,384 positions: 1.04, 1.05, 1.02, 1.01, 1.01 and 0.98 times as fast; without parts 0.98 and
// 0.97 at 4,096 and 16,384 (2026-11-28, three H200s).
attn.table_entry bwd @bwd_d96_none head_dim 96, 96
    masks ["none"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = linear, last_wave_parts = 8>
    schedule <"bwd_d96_none" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  role load warps 1 regs 40
  role wg[2] warps 4 regs 232
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
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    before { next }
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
  }
  body wg {
    kv { qk dp score mask exp cvt_p dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk put_dq red_dq await(red_dq) }
    after { await(st_dv) + 1 await(st_dk) join cvt_dv st_dv cvt_dk st_dk }
  }
}>
