// All gradients without a mask, for head dim 128: as under a causal mask (bwd_d128_causal.mlir). LSE is read before the scores are awaited, too.
// Relative to a kernel of one item for each CTA with blocks of 80 queries, which reads K and V less often, 1.11, 1.07, 1.03, 1.03, 1.00 and 1.00 times as
// fast from 512 to 16,384 positions (2026-11-28, one H200), in later races 0.99 to 1.06 times.
attn.table_entry bwd @bwd_d128_none head_dim 128, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 64, share_rows = columns, work = dynamic>
    schedule <"bwd_d128_none" machine "sm_90a" {
  split M 2 whole(k, v) also(dqt : D, dqte : D)
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
  hold dqt = dqt in reg over dp
  hold dqte = dqte in smem depth 1
  hold dss = dss in smem depth 2
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem over dss
  hold dve = dve in smem over dqte
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
  knob peel first
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
    kv { read(lse) + 1 dp + 1 score + 1 mask + 1 exp + 1 cvt_p + 1 read(dl) + 1 dsoft + 1 cvt_ds + 1 put_ds + 1 mm_dv + 1 sync(put) + 1 mm_dqt + 1 await(mm_dv) + 1 mm_dk + 1 wait(dq_free) + 1 put_dqt + 1 sig(dq_full) + 1 await(mm_dk) + 1 qk }
    after { sync(end) sig(dq_end) cvt_dk st_dk wait(dq_done) cvt_dv st_dv await(st_dk) await(st_dv) sync(fin) }
  }
}>
