/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What bench/launch_overhead.py calls to time launches from C: a shared library
 * that needs none of attn's.
 */

#define _POSIX_C_SOURCE 199309L

#include "attn/runtime/attn.h"

#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Launches with the driver alone `count` times: `launch` is cuLaunchKernelEx,
 * the others are its arguments. Writes how long each call took. Returns the
 * first CUresult that is not CUDA_SUCCESS. */
ATTN_API int driver_loop(int (*launch)(const void *, void *, void **, void **),
                         const void *config, void *function, void **params,
                         size_t count, double *times) {
  for (size_t i = 0; i < count; ++i) {
    double start = seconds();
    int result = launch(config, function, params, NULL);
    times[i] = seconds() - start;
    if (result != 0) {
      return result;
    }
  }
  return 0;
}

/* Launches `count` times with `launch`, which is attn_launch, and writes how
 * long each call took. Returns the first status that is not ATTN_SUCCESS. */
ATTN_API attn_status
launch_loop(attn_status (*launch)(attn_bundle *, const attn_launch_args *),
            attn_bundle *bundle, const attn_launch_args *args, size_t count,
            double *times) {
  for (size_t i = 0; i < count; ++i) {
    double start = seconds();
    attn_status status = launch(bundle, args);
    times[i] = seconds() - start;
    if (status != ATTN_SUCCESS) {
      return status;
    }
  }
  return ATTN_SUCCESS;
}
