// All gradients without a mask, in blocks of 80 queries, whose shares of dQ are transposed and added by a warp of its own, an item for each CTA.
attn.table_entry bwd @bwd_d128_80 head_dim 128, 128
    masks ["none"]
    config <tile_m = 128, tile_n = 80, share_rows = columns, work = grid>
    schedule <"bwd_d128_80" machine "sm_90a" {
  split M 2 whole(k, v) also(dqt : D, dqte : D)
  remat(next)
  role load warps 1 regs 24
  role add warps 1 regs 24
  role wg[2] warps 4 regs 240
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
  hold dke = dke in smem over k
  hold dve = dve in smem over v
  sync put ring wg
  sync end ring wg
  edge k_free credits 1
  edge v_free credits 1
  edge dq_full credits 0
  edge dq_free credits 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body load {
    kv { once : wait(k_free) once : ld_k ld_q once : wait(v_free) once : ld_v ld_do ld_lse ld_dl }
  }
  body add {
    kv { wait(dq_full) red_dq[0] red_dq[1] await(red_dq[1]) sig(dq_free) }
  }
  body wg {
    kv { qk read(lse) dp score mask exp cvt_p read(dl) dsoft cvt_ds put_ds mm_dv sync(put) mm_dqt await(mm_dv) mm_dk wait(dq_free) put_dqt sig(dq_full) }
    after { sync(end) cvt_dv st_dv cvt_dk st_dk await(st_dk) sig(k_free) await(st_dv) sig(v_free) }
  }
}>
