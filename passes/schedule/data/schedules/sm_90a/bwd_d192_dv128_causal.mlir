// All gradients under a causal mask, for head dims 192 and 128: the kernel of the other masks (bwd_d192_dv128.mlir), but persistent
// (docs/adr/0098-a-warp-of-its-own-hands-out-items.md), and 1.02 times as fast as that one (2026-11-28, one H200).
attn.table_entry bwd @bwd_d192_dv128_causal head_dim 192, 128
    masks ["causal_top_left", "causal_bottom_right"] dtypes [bf16]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 20, kept_p = f16>
    schedule <"bwd_d192_dv128_causal" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  role items warps 1 regs 24
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan work = w in smem depth 1
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
  hold dve = dve in smem depth 1
  sync put ring wg
  sync end ring wg
  edge k_free credits 1
  edge issued credits 0
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first_branch
  body items {
    before { next }
    after { wait(issued) }
  }
  body load {
    kv { once : wait(k_free) once : ld_k ld_q once : ld_v ld_do ld_lse ld_dl }
    after { sig(issued) }
  }
  body wg {
    kv { qk score mask exp cvt_pk cvt_p mm_dv await(mm_dv) dp dsoft cvt_ds put_ds mm_dk sync(put) await(mm_dk) mm_dq put_dq red_dq await(red_dq) }
    after { cvt_dv st_dv sync(end) cvt_dk st_dk await(st_dk) sig(k_free) await(st_dv) }
  }
}>
