// Zeros, to which gradients are added: a warpgroup has a block of rows.
attn.table_entry clear @clear head_dim -1, -1
    masks ["none"]
    config <tile_m = 64, tile_n = 1, work = grid>
    schedule <"clear" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 64
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body main {
    before { st_zero st_turns }
  }
}>
