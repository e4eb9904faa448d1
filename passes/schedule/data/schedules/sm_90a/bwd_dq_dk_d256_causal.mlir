// Shares of dQ, and dK, under a causal mask, for head dim 256: the kernel of the other masks (bwd_dq_dk_d256.mlir), but persistent
// (docs/adr/0098-a-warp-of-its-own-hands-out-items.md). Without a mask a persistent kernel is 1 to 3 % slower. A pass is 1.04, 1.03, 1.01,
// 1.00, 1.00 and 1.02 times as fast as with one item for each CTA and sections of 32 MiB, at 512 to 16,384 positions (2026-11-29, one H200).
attn.table_entry bwd_dq_dk @bwd_dq_dk_d256_causal head_dim 256, 256
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 64, work = dynamic, order = shortest_last, section_mib = 16>
    schedule <"bwd_dq_dk_d256_causal" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : D, dqe : D)
  role items warps 1 regs 24
  role load warps 1 regs 24
  role wg[2] warps 4 regs 240
  chan work = w in smem depth 1
  chan k = k in smem depth 1
  chan v = v in smem depth 1
  chan q = q in smem depth 1
  chan do = do in smem depth 1
  chan lse = lse in smem depth 2 free_implied
  chan dl = dl in smem depth 2 free_implied
  hold s = dp | s in reg depth 2
  hold ds = ds in reg depth 1
  hold dss = dss in smem depth 2
  hold dq = dq in reg over s
  hold dk = dk in reg
  hold dke = dke in smem over k
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
    kv { ld_do ld_dl once : ld_v ld_q ld_lse once : wait(k_free) once : ld_k }
    after { sig(issued) }
  }
  body wg {
    kv { dp qk score mask exp dsoft cvt_ds put_ds mm_dk sync(put) mm_dq await(mm_dk) put_dq red_dq await(red_dq) }
    after { sync(end) cvt_dk st_dk await(st_dk) sig(k_free) }
  }
}>
