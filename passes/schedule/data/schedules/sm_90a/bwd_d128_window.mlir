// All gradients under a window, for head dim 128: the kernel of causal masks (bwd_d128_causal.mlir), but shares of dQ are not transposed, since a window may
// be that of a mask function, which has sums that are not. Relative to bwd_d128.mlir, a window of 1,024 is 1.05 times as fast at 4,096 and 16,384
// positions (2026-11-28, two H200s, runs of their own).
attn.table_entry bwd @bwd_d128_window head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 16>
    schedule <"bwd_d128_window" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  role load warps 1 regs 40
  role add warps 1 regs 40
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
  hold dqe = dqe in smem depth 1
  hold dss = dss in smem depth 2
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem over dss
  hold dve = dve in smem over dqe
  sync put ring wg
  sync end ring wg
  sync fin ring wg
  edge dq_end credits 0
  edge dq_done credits 0
  edge dq_full credits 0
  edge dq_free credits 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body load {
    before { next }
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
  }
  body add {
    kv { wait(dq_full) red_dq[0] red_dq[1] await(red_dq[0]) await(red_dq[1]) sig(dq_free) }
    after { wait(dq_end) sig(dq_done) }
  }
  body wg {
    kv { qk dp score mask exp cvt_p read(dl) dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk wait(dq_free) put_dq sig(dq_full) }
    after { sync(end) sig(dq_end) cvt_dk st_dk wait(dq_done) cvt_dv st_dv await(st_dk) await(st_dv) sync(fin) }
  }
}>
