// All gradients, with one order of additions to dQ, for head dim 160: as without an order, but a thread waits for the
// turn of each block of queries, and passes it on when both warpgroups have added.
attn.table_entry bwd_ordered @bwd_ordered_d160 head_dim 160, 160
    masks ["none", "causal_top_left", "causal_bottom_right", "window"] dtypes [bf16]
    config <tile_m = 128, tile_n = 64, first_share = stored, work = grid, kept_p = f16>
    schedule <"bwd_ordered_d160" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  remat(next)
  role load warps 1 regs 24
  role turns warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q + lse + dl in smem depth 2
  chan do = do in smem depth 2
  hold s = s in reg depth 1
  hold p = p in reg over s
  hold pk = pk in reg depth 1
  hold dp = dp in reg over s
  hold ds = ds in reg over s
  hold dq = dq in reg over s + pk
  hold dss = dss in smem depth 2
  hold dk = dk in reg
  hold dv = dv in reg
  hold dke = dke in smem over k
  hold dve = dve in smem over v
  sync put ring wg
  sync end ring wg
  edge k_free credits 1
  edge turn credits 0
  edge added credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body load {
    kv { ld_q ld_lse ld_dl once : wait(k_free) once : ld_k ld_do once : ld_v }
  }
  body turns {
    kv { wait_dq sig(turn) wait(added) pass_dq }
  }
  body wg {
    kv { qk score mask exp cvt_pk cvt_p mm_dv await(mm_dv) dp dsoft cvt_ds put_ds mm_dk sync(put) await(mm_dk) mm_dq put_dq wait(turn) red_dq sig(added) await(red_dq) }
    after { sync(end) cvt_dv st_dv cvt_dk st_dk await(st_dk) await(st_dv) sig(k_free) }
  }
}>
