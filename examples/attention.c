/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiles attention from MLIR, and launches it on host memory, where the
 * simulator runs it. On a GPU the device is {kDLCUDA, 0}, the pointers are the
 * device's, and `stream` is the caller's; nothing else changes.
 *
 * In the archive that scripts/dist makes, in its own folder:
 *   cc share/attn/examples/attention.c \
 *     $(PKG_CONFIG_PATH=$PWD/lib/pkgconfig pkg-config --cflags --libs attn-jit)
 *   ./a.out share/attn/examples/full_d64.mlir
 * In the source tree, after a build:
 *   cc -Iinclude examples/attention.c -Lbuild/lib -lattn_jit -lattn_runtime \
 *     -Wl,-rpath,$PWD/build/lib
 *   ./a.out examples/full_d64.mlir
 */

#include "attn/runtime/attn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kQueries = 7, kKeys = 20, kHeads = 2, kDim = 64 };

/* Ends the program if a call failed. */
static void check(attn_status status, const char *call) {
  if (status != ATTN_SUCCESS) {
    fprintf(stderr, "%s: %s: %s\n", call, attn_status_name(status),
            attn_last_error());
    exit(1);
  }
}

static attn_bundle *compile(const char *path) {
  static char ir[1 << 16];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  size_t size = fread(ir, 1, sizeof(ir) - 1, file);
  fclose(file);
  ir[size] = '\0';

  attn_compile_args args;
  memset(&args, 0, sizeof(args));
  args.size = sizeof(args);
  args.ir = ir;
  args.target = "sm_90a";
  attn_bundle *bundle = NULL;
  check(attn_supports(&args), "attn_supports"); /* says why not */
  check(attn_compile(&args, &bundle), "attn_compile");
  return bundle;
}

/* The upper half of a float is a bf16. */
static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)(bits >> 16);
}

static float to_float(uint16_t value) {
  uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

/* Memory for `count` elements, aligned as every tensor has to be. */
static void *allocate(size_t count, size_t size) {
  void *memory = aligned_alloc(256, (count * size + 255) / 256 * 256);
  memset(memory, 0, (count * size + 255) / 256 * 256);
  return memory;
}

/* Tensors are (batch, position, head, dim), packed here: null strides. */
static DLTensor make_tensor(void *data, DLDevice device, int64_t *shape,
                            int rank, uint8_t code, uint8_t bits) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device = device;
  tensor.ndim = rank;
  tensor.dtype.code = code;
  tensor.dtype.bits = bits;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.mlir\n", argv[0]);
    return 2;
  }
  attn_bundle *bundle = compile(argv[1]);

  /* Queries that are zero weigh all keys alike: O is the mean of V, here of
   * the positions 0 to 19, and LSE is log(20). */
  uint16_t *q = allocate(kQueries * kHeads * kDim, sizeof(*q));
  uint16_t *k = allocate(kKeys * kHeads * kDim, sizeof(*k));
  uint16_t *v = allocate(kKeys * kHeads * kDim, sizeof(*v));
  uint16_t *o = allocate(kQueries * kHeads * kDim, sizeof(*o));
  float *lse = allocate(kHeads * kQueries, sizeof(*lse));
  for (int i = 0; i < kKeys * kHeads * kDim; ++i) {
    k[i] = to_bf16(1.0f);
    v[i] = to_bf16((float)(i / (kHeads * kDim)));
  }

  DLDevice device = {kDLCPU, 0};
  int64_t of_q[] = {1, kQueries, kHeads, kDim};
  int64_t of_k[] = {1, kKeys, kHeads, kDim};
  int64_t of_lse[] = {1, kHeads, kQueries};
  DLTensor all[] = {make_tensor(q, device, of_q, 4, kDLBfloat, 16),
                    make_tensor(k, device, of_k, 4, kDLBfloat, 16),
                    make_tensor(v, device, of_k, 4, kDLBfloat, 16),
                    make_tensor(o, device, of_q, 4, kDLBfloat, 16),
                    make_tensor(lse, device, of_lse, 3, kDLFloat, 32)};
  const DLTensor *tensors[] = {&all[0], &all[1], &all[2], &all[3], &all[4]};
  const char *tensor_names[] = {"q", "k", "v", "o", "lse"};
  double scale = 0.125;
  const char *scalar_names[] = {"scale"};

  attn_launch_args args;
  memset(&args, 0, sizeof(args));
  args.size = sizeof(args);
  args.num_tensors = 5;
  args.tensors = tensors;
  args.tensor_names = tensor_names;
  args.num_scalars = 1;
  args.scalars = &scale;
  args.scalar_names = scalar_names;
  args.device = device;
  args.stream = NULL;

  check(attn_workspace_size(bundle, &args, &args.workspace_size),
        "attn_workspace_size");
  args.workspace = allocate(args.workspace_size, 1);
  check(attn_launch(bundle, &args), "attn_launch");

  printf("O is %.2f, LSE is %.4f\n", to_float(o[0]), lse[0]);
  attn_bundle_destroy(bundle);
  free(args.workspace);
  free(q);
  free(k);
  free(v);
  free(o);
  free(lse);
  return 0;
}
