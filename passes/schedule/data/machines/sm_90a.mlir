// Hopper.
module attributes {attn.machine = #attn.machine<"sm_90a"
  spaces [
    reg capacity 65536 unit 4 private true,
    smem capacity 232448 unit 1 private false]
  mma acc reg a [reg, smem] b [smem] signals_barriers false
  registers <lowest = 24, highest = 256, granule = 8, reserve = 24, small = 160, reserve_small = 32>
  barriers <named = 16, memory = 128, bytes = 8>
  warps <lanes = 32, group = 4, most = 32>
  tiles <rows = 64, columns = 8, depth = 16, copied = 256>
  lacks [
    parts, over_cross, channel_outside_smem, several_values, filled_by_threads,
    several_homes, deep_hold, held_by_threads, copied_hold, bare_work, split_edge,
    joined_edge, unprimed_turn, replica_body, listed_subtile, nonempty_guard,
    guarded_value, unshifted_last, outer_product, outer_shift, long_shift, no_peel,
    transposed_a, some_readers, odd_channel, read_by_threads, odd_cut, odd_tile,
    odd_hold, odd_masked, odd_role, carried_elsewhere, guarded_final, mixed_step,
    unplaced_load, stored_elsewhere, filled_by_many, many_credits,
    rejected_static, crossed_sum]>} {}
