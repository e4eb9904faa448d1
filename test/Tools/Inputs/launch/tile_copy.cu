// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies 16 x 32 tiles through shared memory with TMA, a tile a block, and
// writes them one after another: what is outside the tensor becomes 0.
// tile_copy.ptx is what "nvcc -arch=sm_90a -ptx" (13.0) makes of it.

struct __align__(64) Map {
  unsigned char bytes[128];
};

extern "C" __global__ void tile_copy(const __grid_constant__ Map map,
                                     float *out) {
  __shared__ __align__(128) float tile[16 * 32];
  __shared__ unsigned long long barrier;
  unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address),
        "r"((unsigned)sizeof(tile)));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
        "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            (unsigned)__cvta_generic_to_shared(tile)),
        "l"(&map), "r"(blockIdx.x * 32), "r"(blockIdx.y * 16), "r"(address)
        : "memory");
  }
  asm volatile("{\n.reg .pred done;\n"
               "WAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra WAIT;\n}" ::"r"(address)
               : "memory");
  float *to = out + (blockIdx.y * gridDim.x + blockIdx.x) * 16 * 32;
  for (int i = threadIdx.x; i < 16 * 32; i += blockDim.x) {
    to[i] = tile[i];
  }
}
