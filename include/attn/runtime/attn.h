/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The runtime's C interface: load a bundle, ask for its workspace, launch it.
 *
 * Every function that can fail returns a status; the message of the calling
 * thread's last failure is attn_last_error(). No function throws. A bundle may
 * be used by several threads at once.
 */

#ifndef ATTN_RUNTIME_ATTN_H
#define ATTN_RUNTIME_ATTN_H

#include "attn/runtime/dlpack.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum attn_status {
  ATTN_SUCCESS = 0,
  /* The caller broke a rule: the message names the argument, the rule and
   * both values. */
  ATTN_INVALID_ARGUMENT = 1,
  /* The bundle is damaged or is not one. */
  ATTN_INVALID_BUNDLE = 2,
  /* No driver, no such device, or a device of another architecture. */
  ATTN_NO_DEVICE = 3,
  /* The driver refused; the message has the CUDA error name and the kernel. */
  ATTN_DEVICE_ERROR = 4,
  /* The bundle has no variant for this problem. */
  ATTN_UNSUPPORTED = 5
} attn_status;

typedef struct attn_bundle attn_bundle;

/* One call's arguments. Set `size` to sizeof(attn_launch_args), so that the
 * struct can grow, and what is not used to zero. */
typedef struct attn_launch_args {
  size_t size;
  /* The tensors, and their names in the plan. Null names: the tensors are all
   * of the plan's tensor arguments in its order. The DLTensors are only read
   * during the call. */
  size_t num_tensors;
  const DLTensor *const *tensors;
  const char *const *tensor_names;
  /* The scalars, in the same way. */
  size_t num_scalars;
  const double *scalars;
  const char *const *scalar_names;
  /* The device all tensors have to be on: {kDLCUDA, ordinal}, or {kDLCPU, 0}
   * for the simulator, whose memory is the host's. */
  DLDevice device;
  /* A CUstream of that device's primary context; null is the default one. The
   * simulator has no streams and ignores it. */
  void *stream;
  /* Device memory of attn_workspace_size bytes or more, 256-byte aligned. It
   * has to be zero before the first launch that uses it. A launch leaves zero
   * what the next one needs zero: launches of one bundle that run one after the
   * other may share it, those that may run at the same time may not. */
  void *workspace;
  size_t workspace_size;
} attn_launch_args;

/* The version of this library, for example "0.1.0". */
ATTN_API const char *attn_version(void);

/* The message of this thread's last failed call, "" if none failed. Valid
 * until the thread's next call. */
ATTN_API const char *attn_last_error(void);

/* Loads the bundle in the file `path` if `path` is not null, else the `size`
 * bytes at `data`, which are copied. On failure `*bundle` is null. */
ATTN_API attn_status attn_bundle_load(const char *path, const void *data,
                                      size_t size, attn_bundle **bundle);

/* Gives back the bundle and the kernels it loaded. Null is ignored. No launch
 * of it may be running. */
ATTN_API void attn_bundle_destroy(attn_bundle *bundle);

/* The launch plan's JSON text, valid as long as the bundle. */
ATTN_API const char *attn_bundle_plan(const attn_bundle *bundle);

/* Loads the kernels onto `device` now rather than in the first launch, which
 * a launch under CUDA graph capture needs. */
ATTN_API attn_status attn_bundle_prepare(attn_bundle *bundle, DLDevice device);

/* Sets `*variant` to the index in the plan's list of variants of the one that
 * attn_launch with these arguments runs: the first whose condition holds. Looks
 * at shapes, strides and scalars, never at memory. */
ATTN_API attn_status attn_choose_variant(attn_bundle *bundle,
                                         const attn_launch_args *args,
                                         size_t *variant);

/* Sets `*bytes` to the workspace that attn_launch with these arguments needs:
 * that of the variant that it runs. Looks at shapes, strides and scalars, never
 * at memory. */
ATTN_API attn_status attn_workspace_size(attn_bundle *bundle,
                                         const attn_launch_args *args,
                                         size_t *bytes);

/* Checks the arguments and enqueues the kernels on the stream. Allocates no
 * device memory, does not synchronize and reads nothing back. Problems of zero
 * size succeed.
 *
 * On the simulator the kernels have run when this returns. They may access the
 * elements of the call's tensors, what lies between those, and the workspace;
 * any other access, a deadlock or a broken rule of the machine ends the launch
 * with ATTN_DEVICE_ERROR and a message that says where. */
ATTN_API attn_status attn_launch(attn_bundle *bundle,
                                 const attn_launch_args *args);

/* Sets an option of the simulator for the process's later launches; none may
 * be running. The values are decimal numbers but for "hazards":
 *   "seed"     the schedule: 0 in turn with late copies (the default), 1 in
 *              turn with early ones, others at random
 *   "threads"  of the host to use; 0 for one a core (the default)
 *   "budget"   the instructions of warps that one CTA may execute
 *   "hazards"  what to do about races and other hazards: "error" fails the
 *              launch (the default), "warn" logs them, "off" does not look */
ATTN_API attn_status attn_simulator_option(const char *name, const char *value);

typedef enum attn_log_level {
  ATTN_LOG_INFO = 0,
  ATTN_LOG_WARNING = 1
} attn_log_level;

/* `message` is valid during the call. */
typedef void (*attn_log_callback)(attn_log_level level, const char *message,
                                  void *user);

/* Sets the one function that is told of module loads and the like; null for
 * none, which is the default. It may be called from any thread. */
ATTN_API void attn_set_log_callback(attn_log_callback callback, void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTN_RUNTIME_ATTN_H */
