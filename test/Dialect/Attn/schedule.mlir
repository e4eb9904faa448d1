// Every construct of #attn.schedule is read and written back: pretty, generic, bytecode.
// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s
// RUN: attn-opt %s --emit-bytecode | attn-opt | FileCheck %s

// CHECK: attn.table_entry {{ *}}fwd @every head_dim 128, -1 masks ["none"]
// CHECK-SAME: config <tile_m = 256, tile_n = 128, work = static, rescale_threshold = 8>
// CHECK-SAME: schedule <"every" machine "sm_100a" {
// CHECK-NEXT: split M 2 whole(q, "a b") also(dq : D, x : N)
// CHECK-NEXT: remat(next, bounds)
// CHECK-NEXT: role load warps 1 regs 24
// CHECK-NEXT: role wg[2] warps 4 regs 240
// CHECK-NEXT: role mma warps 1 regs 48 on leader
// CHECK-NEXT: chan q = q in smem depth 1
// CHECK-NEXT: chan kv = k | v in smem depth 3 scope pair
// CHECK-NEXT: chan st = alpha | lf + mf in smem depth 1 gran warp
// CHECK-NEXT: chan p = p in tmem depth 1 parts(3 of 4, 1 of 4) over s[cross] for(mm_dk, mm_dq) full_implied free_implied gran thread scope cluster
// CHECK-NEXT: hold oe = oe in smem depth 1 over v
// CHECK-NEXT: hold dq = dq in reg depth 1 over s + "a b"
// CHECK-NEXT: turn tc ring wg
// CHECK-NEXT: turn tb ring wg unprimed
// CHECK-NEXT: sync drain ring wg
// CHECK-NEXT: edge o_free credits 1 scope cluster
// CHECK-NEXT: edge o_ready split joins p : 1
// CHECK-NEXT: knob exp2_soft 1 of 8
// CHECK-NEXT: knob peel first_masked
// CHECK-NEXT: knob skip right
// CHECK-NEXT: knob launch dependent
// CHECK-NEXT: body load {
// CHECK-NEXT: before { wait(o_free) }
// CHECK-NEXT: kv { ld_k once : ld_q[1] ld_v + 1 }
// CHECK-NEXT: }
// CHECK-NEXT: body wg {
// CHECK-NEXT: kv { get(k) take(tc) + 1 qk pv[0] : 1 + 1 last_nonempty : commit(o_done[0]) last : put(dq) give(tc) sync(drain) await(pv[1]) + 2 "once" : 0 }
// CHECK-NEXT: after { nonempty : sig(o_ready) fin }
// CHECK-NEXT: }
// CHECK-NEXT: body wg[1] {
// CHECK-NEXT: }
// CHECK-NEXT: }>
attn.table_entry fwd @every head_dim 128, -1 masks ["none"]
    config <tile_m = 256, tile_n = 128, work = static, rescale_threshold = 8>
    schedule <"every" machine "sm_100a" {
  body load {
    kv { ld_k once : ld_q[1] ld_v+1 }
    before { wait(o_free) }
  }
  role load warps 1 regs 24   role wg[2] warps 4 regs 240
  role mma warps 1 regs 48 on leader
  remat(next)
  remat(bounds)
  split M 2 whole(q, "a b") also(dq : D, x : N)
  chan q = q in smem // depth is 1
  chan kv = k|v in smem depth 3 scope pair
  chan st = alpha | lf + mf in smem depth 1 gran warp
  chan p = p in tmem parts(3 of 4, 1 of 4) over s[cross] for(mm_dk, mm_dq) full_implied free_implied gran thread scope cluster
  hold oe = oe in smem over v
  hold dq = dq in reg over s+"a b"
  knob peel first_masked
  knob skip right
  knob launch dependent
  knob exp2_soft 1 of 8
  edge o_free credits 1 scope cluster
  edge o_ready split joins p : 1
  turn tc ring wg
  turn tb ring wg unprimed
  sync drain ring wg
  body wg {
    kv { get(k) take(tc) + 1 qk pv[0] : 1 + 1 last_nonempty : commit(o_done[0]) last : put(dq) give(tc) sync(drain) await(pv[1]) + 2 "once" : 0 }
    after { nonempty : sig(o_ready) fin }
  }
  body wg[1] {}
}>

// CHECK: attn.table_entry {{ *}}bwd @least
// CHECK-SAME: schedule <"" machine "m" {
// CHECK-NEXT: knob exp2_soft 0 of 1
// CHECK-NEXT: knob peel none
// CHECK-NEXT: }>
attn.table_entry bwd @least head_dim 1, 1 masks []
    config <tile_m = 64, tile_n = 64, work = grid> schedule <"" machine "m" {}>
