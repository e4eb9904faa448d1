// The row statistics of a backward pass, and zeros for sums of dQ: a warpgroup has a block of rows in its registers.
attn.table_entry delta @delta head_dim -1, -1
    masks ["none"]
    config <tile_m = 64, tile_n = 1, work = grid>
    schedule <"delta" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 168
  hold o = o in reg depth 1
  hold do = do in reg depth 1
  hold lse = lse in reg depth 1
  hold dlse = dlse in reg depth 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body main {
    before { ld_o ld_do ld_lse ld_dlse st_zero st_turns await(ld_dlse) dot stats st_dl st_lse2 }
  }
}>
