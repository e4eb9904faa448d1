// attn.consumed: the values of knobs that passes have used. They agree with the config and the schedule.
// RUN: attn-opt %s | attn-opt | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 knob exp2_soft 1 of 8 }>

// CHECK: ws.kernel @specialized
// CHECK: attributes {attn.consumed = {exp2_soft = "1/8", row_max = "running", work = "grid"}}
ws.kernel @specialized machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {work = "grid", exp2_soft = "1/8", row_max = "running"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}
