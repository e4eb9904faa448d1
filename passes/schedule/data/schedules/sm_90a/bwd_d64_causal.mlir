// All gradients under a causal mask, for head dim 64: each of two warpgroups has 64 keys, and makes the share of dQ of half of a block's 128 queries. A warp
// of its own adds the shares to the sums, so that the addresses of sums take no registers of those that multiply. Persistent, as for head dim 128
// (bwd_d128_causal.mlir). Relative to the kernel of the other masks (bwd_d64.mlir), 1.06, 1.06, 1.07, 1.04, 1.03 and 1.02 times as fast from 512 to 16,384
// positions (2026-11-28, one H200); windows are up to 4 % slower than with that one.
attn.table_entry bwd @bwd_d64_causal head_dim 64, 64
    masks ["causal_top_left", "causal_bottom_right"]
    config <tile_m = 128, tile_n = 128, work = dynamic, order = shortest_last, section_mib = 8>
    schedule <"bwd_d64_causal" machine "sm_90a" {
  split M 2 whole(k, v) also(dq : N, dqe : N)
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
    kv { qk dp score mask exp cvt_p dsoft cvt_ds put_ds mm_dv sync(put) mm_dq await(mm_dv) mm_dk wait(dq_free) put_dq sig(dq_full) }
    after { sync(end) sig(dq_end) cvt_dk st_dk wait(dq_done) cvt_dv st_dv await(st_dk) await(st_dv) sync(fin) }
  }
}>
