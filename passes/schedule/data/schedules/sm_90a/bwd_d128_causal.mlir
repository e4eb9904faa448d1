// All gradients under a causal mask, for head dim 128: each of two warpgroups has 64 keys. A block of 64 queries wastes less of the diagonal than one of
// 80. Each warpgroup makes half of the columns of a share of dQ, transposed, and a warp of its own adds them to the sums
// (docs/adr/0094-a-warp-of-its-own-adds-shares.md). The scores of the next block are computed while this share waits to be put. Persistent: the loads of
// the next item run beside the end of the one before. A warp of its own hands out the next item when all loads of an item are issued
// (docs/adr/0098-a-warp-of-its-own-hands-out-items.md). dK and dV wait to be stored where dX and the shares of dQ were.
attn.table_entry bwd @bwd_d128_causal head_dim 128, 128
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, share_rows = columns, work = dynamic, order = shortest_last, section_mib = 16>
    schedule <"bwd_d128_causal" machine "sm_90a" {
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
    kv { dp + 1 score + 1 mask + 1 exp + 1 cvt_p + 1 read(dl) + 1 dsoft + 1 cvt_ds + 1 put_ds + 1 mm_dv + 1 sync(put) + 1 mm_dqt + 1 await(mm_dv) + 1 mm_dk + 1 wait(dq_free) + 1 put_dqt + 1 sig(dq_full) + 1 await(mm_dk) + 1 qk }
    after { sync(end) sig(dq_end) cvt_dk st_dk wait(dq_done) cvt_dv st_dv await(st_dk) await(st_dv) sync(fin) }
  }
}>
