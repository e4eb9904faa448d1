// The gradients of Q of their sums: a warpgroup has a block of rows in its registers.
attn.table_entry convert @convert head_dim -1, -1
    masks ["none"]
    config <tile_m = 64, tile_n = 1, work = grid>
    schedule <"convert" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 168
  hold sums = sums in reg depth 1
  knob exp2_soft 0 of 1
  knob launch dependent
  knob peel first
  body main {
    before { ld_turn ld_sums await(ld_sums) cvt_dq st_dq }
  }
}>
