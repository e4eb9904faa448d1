// Blackwell. A unit of tensor memory is a column: 128 lanes of 4 bytes.
module attributes {attn.machine = #attn.machine<"sm_100a"
  spaces [
    reg capacity 65536 unit 4 private true,
    smem capacity 232448 unit 1 private false,
    tmem capacity 512 unit 512 private false]
  mma acc tmem a [smem, tmem] b [smem] signals_barriers true
  registers <lowest = 24, highest = 256, granule = 8, reserve = 24, small = 160, reserve_small = 32>
  barriers <named = 16, memory = 128, bytes = 8>
  warps <lanes = 32, group = 4, most = 32>
  lacks [anything]>} {}
