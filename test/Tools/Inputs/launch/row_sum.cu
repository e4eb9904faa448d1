// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of rows, scaled and rounded: a block a row. row_sum.ptx is what
// "nvcc -arch=sm_90a -ptx" (13.0) makes of it.

#include <cuda_bf16.h>

struct Sizes {
  int columns;
  const float *offset;
};

extern "C" __global__ void row_sum(const __nv_bfloat16 *in, float *out,
                                   float scale, Sizes sizes) {
  __shared__ float partial[8];
  float sum = 0;
  for (int i = threadIdx.x; i < sizes.columns; i += blockDim.x) {
    sum += __bfloat162float(in[blockIdx.x * sizes.columns + i]);
  }
  for (int step = 16; step; step /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, step);
  }
  if (threadIdx.x % 32 == 0) {
    partial[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; ++i) {
      sum += partial[i];
    }
    out[blockIdx.x] = sum * scale + *sizes.offset;
  }
}
