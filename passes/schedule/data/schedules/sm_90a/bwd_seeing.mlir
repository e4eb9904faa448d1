// The queries that may see groups of keys: a warpgroup has 64 groups.
attn.table_entry bwd_seeing @bwd_seeing head_dim -1, -1
    masks ["none", "causal_top_left", "causal_bottom_right", "window", "gathers"]
    config <tile_m = 64, tile_n = 64, work = grid>
    schedule <"bwd_seeing" machine "sm_90a" {
  remat(next)
  role main warps 4 regs 240
  knob exp2_soft 0 of 1
  knob peel first
  body main {
    before { hull }
    kv { see }
    after { st }
  }
}>
