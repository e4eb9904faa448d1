// Sums to the elements of the gradient of a capture: a warpgroup has 64 of them.
attn.table_entry sum @sum head_dim -1, -1
    masks ["none"]
    config <tile_m = 64, tile_n = 64, work = grid>
    schedule <"sum" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 240
  knob exp2_soft 0 of 1
  knob peel first
  body main {
    kv { add }
    after { total st }
  }
}>
