// All gradients under a window, for head dim 128: as under a causal mask (bwd_d128_causal.mlir), but shares of dQ are not transposed, since a mask function may
// turn out to be a window only after attn-split-backward has asked for sums. The blocks that need no mask have a loop of their own: a window has two ends to
// compare with. The kernel before, in which one role loads and hands out items and no scores are computed early, is 1.05 and 1.02 times slower for a window of
// 1,024 at 4,096 and 16,384 positions, in a second race 1.05 and 1.03 (2026-11-29, H200s).
attn.table_entry bwd @bwd_d128_window head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right", "window"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 16>
    schedule <"bwd_d128_window" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  role items warps 1 regs 24
  role load warps 1 regs 24
  role add warps 1 regs 24
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
  edge issued credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_masked
  body items {
    before { next }
    after { wait(issued) }
  }
  body load {
    kv { once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
    after { sig(issued) }
  }
  body add {
    kv { wait(dq_full) red_dq[0] red_dq[1] await(red_dq[1]) sig(dq_free) }
    after { wait(dq_end) sig(dq_done) }
  }
  body wg {
    kv { dp + 1 score + 1 mask + 1 exp + 1 cvt_p + 1 read(dl) + 1 dsoft + 1 cvt_ds + 1 put_ds + 1 mm_dv + 1 sync(put) + 1 mm_dq + 1 await(mm_dv) + 1 mm_dk + 1 wait(dq_free) + 1 put_dq + 1 sig(dq_full) + 1 await(mm_dk) + 1 qk }
    after { sync(end) sig(dq_end) cvt_dk st_dk wait(dq_done) cvt_dv st_dv await(st_dk) await(st_dv) sync(fin) }
  }
}>
