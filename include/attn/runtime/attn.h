/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface: compile attention to a bundle, or load one, ask for its
 * workspace, launch it. docs/c-api.md is its manual.
 *
 * The functions under "Compiling" are in libattn_jit.so, all others in
 * libattn_runtime.so, which is enough for a program that only launches.
 *
 * Every function that can fail returns a status; attn_last_error() is the
 * message of the calling thread's last failure. No function throws; if
 * libattn_runtime.so cannot allocate host memory, the process ends. All
 * functions may be called from several threads at once, and a bundle may be
 * used by several.
 *
 * A library works with callers that were compiled with an older or a newer
 * header of the same major version. Structs begin with their size, set by the
 * caller to sizeof, and only ever grow at their end:
 *   - An older caller's struct lacks fields: they count as zero.
 *   - A newer caller's struct has fields that the library does not know. They
 *     have to be zero, or the call fails with ATTN_UNSUPPORTED: it asks for
 *     something that this library cannot do.
 *   - In a struct that the library fills, it writes zero to fields that it does
 *     not know, and nothing past the end of an older caller's struct.
 * An older caller treats statuses that it does not know as failures.
 */

#ifndef ATTN_RUNTIME_ATTN_H
#define ATTN_RUNTIME_ATTN_H

/* DLPack's own header. Include yours first if you need a newer one. */
#include "attn/runtime/dlpack.h"

#include <stddef.h>
#include <stdint.h>

/* The version of this header, "0.1.0" and 100; attn_version() and
 * attn_version_number() are those of the library. */
#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 1
#define ATTN_VERSION_PATCH 0
#define ATTN_VERSION_NUMBER                                                    \
  (ATTN_VERSION_MAJOR * 10000 + ATTN_VERSION_MINOR * 100 + ATTN_VERSION_PATCH)
#define ATTN_VERSION                                                           \
  ATTN_JOIN_VERSION_(ATTN_VERSION_MAJOR, ATTN_VERSION_MINOR, ATTN_VERSION_PATCH)
#define ATTN_JOIN_VERSION_(major, minor, patch)                                \
  ATTN_QUOTE_VERSION_(major, minor, patch)
#define ATTN_QUOTE_VERSION_(major, minor, patch) #major "." #minor "." #patch

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
  /* The bundle has no variant for this problem, or the compiler cannot compile
   * it: the message says what is missing. Or a newer caller asks for something
   * that this library does not know. */
  ATTN_UNSUPPORTED = 5,
  /* A bug of the compiler: it neither compiled nor refused the input; the
   * message names a file that reproduces this, if there is one. */
  ATTN_COMPILER_ERROR = 6,
  /* This had to be compiled, but compiling is disabled or its limit reached;
   * the message has the cache key. */
  ATTN_NOT_COMPILED = 7,
  /* A file could not be read or written; the message has the system's reason.
   */
  ATTN_IO_ERROR = 8
} attn_status;

typedef struct attn_bundle attn_bundle;

/* Bits of attn_launch_args.flags. */
typedef enum attn_launch_flag {
  /* Saves the memset before the kernels: the workspace is zero, or as this
   * bundle's last launch that needed one left it. That launch had the same
   * workspace of the same size and succeeded, and nothing else has written to
   * it since. */
  ATTN_LAUNCH_WORKSPACE_READY = 1
} attn_launch_flag;

/* One call's arguments. Set `size` to sizeof(attn_launch_args), so that the
 * struct can grow, and unused fields to zero. */
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
  /* Device memory of attn_workspace_size bytes or more, 256-byte aligned, with
   * any contents: if kernels need zeros, attn_launch puts a memset before them
   * on the stream, which a graph captures as well. Launches that run one after
   * the other may share it; launches that may run at the same time may not. */
  void *workspace;
  size_t workspace_size;
  /* Values of attn_launch_flag, or'ed. */
  uint64_t flags;
} attn_launch_args;

/* ATTN_VERSION and ATTN_VERSION_NUMBER of the library. */
ATTN_API const char *attn_version(void);
ATTN_API int32_t attn_version_number(void);

/* The name of a status as this header spells it, for example
 * "ATTN_INVALID_ARGUMENT"; "unknown status" for other numbers. */
ATTN_API const char *attn_status_name(attn_status status);

/* The message of this thread's latest call that returned a status, "" if that
 * succeeded. Valid until the thread's next call. */
ATTN_API const char *attn_last_error(void);

/* Loads the bundle in the file `path` if `path` is not null, otherwise the
 * `size` bytes at `data`, which are copied. On failure `*bundle` is null, and
 * the status is
 *   ATTN_IO_ERROR        there is no such file, it cannot be read, or it is a
 *                        directory, a pipe or a device
 *   ATTN_INVALID_BUNDLE  the bytes are no bundle, or the file has more than
 *                        256 MiB */
ATTN_API attn_status attn_bundle_load(const char *path, const void *data,
                                      size_t size, attn_bundle **bundle);

/* Takes a reference to the bundle, which attn_bundle_destroy drops. */
ATTN_API void attn_bundle_retain(attn_bundle *bundle);

/* Drops a reference to the bundle; the last one unloads its kernels. Null is
 * ignored. No launch of it may be running. */
ATTN_API void attn_bundle_destroy(attn_bundle *bundle);

/* Writes the bundle to the file `path`, atomically: a reader of that file sees
 * what was there before, or all of the bundle. A compiled bundle gets the
 * variants that it does not have yet; their plan then has the assembler's
 * reports on them. */
ATTN_API attn_status attn_bundle_save(const attn_bundle *bundle,
                                      const char *path);

/* Sets `*size` to the bytes of the bundle's file image and, where `capacity`
 * is at least as large, writes them to `data`: what attn_bundle_save writes.
 * The same bundle always has the same bytes. */
ATTN_API attn_status attn_bundle_serialize(const attn_bundle *bundle,
                                           void *data, size_t capacity,
                                           size_t *size);

/* The launch plan's JSON text, valid as long as the bundle. */
ATTN_API const char *attn_bundle_plan(const attn_bundle *bundle);

/* The kind of an argument of a bundle's launches. */
typedef enum attn_argument_kind {
  /* An entry of attn_launch_args.tensors. */
  ATTN_ARGUMENT_TENSOR = 0,
  /* An entry of attn_launch_args.scalars. */
  ATTN_ARGUMENT_SCALAR = 1
} attn_argument_kind;

/* How launches access a tensor. */
typedef enum attn_access {
  ATTN_ACCESS_READ = 0,
  ATTN_ACCESS_WRITE = 1,
  ATTN_ACCESS_READ_WRITE = 2
} attn_access;

/* What an argument is to the computation. */
typedef enum attn_role {
  /* The bundle is from an older compiler, which recorded no roles. */
  ATTN_ROLE_NONE = 0,
  ATTN_ROLE_QUERY = 1,
  ATTN_ROLE_KEY = 2,
  ATTN_ROLE_VALUE = 3,
  /* The factor of the scores, which is applied first. */
  ATTN_ROLE_SCALE = 4,
  /* A number of the mask, such as the left side of a window. */
  ATTN_ROLE_BOUND = 5,
  /* A tensor or number that a score or mask region reads. */
  ATTN_ROLE_CAPTURE = 6,
  ATTN_ROLE_OUTPUT = 7,
  /* The logarithm of the sum of exponentials, row by row. */
  ATTN_ROLE_LSE = 8,
  /* The gradient of O. */
  ATTN_ROLE_OUTPUT_GRADIENT = 9,
  /* The gradient of the LSE. */
  ATTN_ROLE_LSE_GRADIENT = 10,
  /* The sum of dO * O of each row, minus the gradient of its LSE. */
  ATTN_ROLE_DELTA = 11,
  /* The LSE in base 2; +inf for rows without keys. */
  ATTN_ROLE_LSE2 = 12,
  /* The gradients of Q, K and V. */
  ATTN_ROLE_QUERY_GRADIENT = 13,
  ATTN_ROLE_KEY_GRADIENT = 14,
  ATTN_ROLE_VALUE_GRADIENT = 15,
  /* The sums from which the gradient of a capture is computed. */
  ATTN_ROLE_PARTIAL_SUMS = 16,
  /* The gradient of a capture or of the scale: its name is that of the capture,
   * or "scale", after a "d". */
  ATTN_ROLE_CAPTURE_GRADIENT = 17,
  /* The sums from which dQ is computed, f32, without the scale. */
  ATTN_ROLE_QUERY_GRADIENT_SUMS = 18,
  /* The probability with which a weight is dropped, from 0 to 1. */
  ATTN_ROLE_DROPOUT_RATE = 19,
  /* The seed and the offset of dropout's random numbers, two i64. */
  ATTN_ROLE_DROPOUT_STATE = 20,
  /* A logit of each query head that has a weight, but no key and no value. */
  ATTN_ROLE_SINKS = 21,
  /* Of the work items that add to the sums of dQ: whose turn it is, i32. */
  ATTN_ROLE_TURNS = 22,
  /* The queries that may see each group of keys, f32. */
  ATTN_ROLE_SEEING_QUERIES = 23
} attn_role;

/* The largest number of dims of a tensor. */
#define ATTN_MAX_RANK 8

/* One argument of a bundle's launches, all of which have to be given. Set
 * `size` to sizeof(attn_argument). */
typedef struct attn_argument {
  size_t size;
  /* Valid as long as the bundle. */
  const char *name;
  attn_argument_kind kind;
  /* Tensors may have any of these; scalars are always read. */
  attn_access access;
  /* The element type; for a scalar, the type to which its double is converted.
   */
  DLDataType dtype;
  /* The number of dims, 0 for a scalar. */
  int32_t rank;
  /* The extent of each dim that is fixed. The others are -1 and have a name:
   * dims of the same name, in whatever arguments, have the same extent. */
  int64_t dims[ATTN_MAX_RANK];
  const char *dim_names[ATTN_MAX_RANK];
  /* The address of a tensor's first element has to be a multiple of this number
   * of bytes. */
  size_t alignment;
  /* There is one argument of each role, but any number of bounds, captures and
   * gradients of captures. */
  attn_role role;
} attn_argument;

/* Sets `*count` to the number of arguments of the bundle's launches. */
ATTN_API attn_status attn_bundle_argument_count(const attn_bundle *bundle,
                                                size_t *count);

/* Fills `*argument` for argument `index` of the bundle, below their number.
 * Tensors are in the order that attn_launch_args.tensors has without names, and
 * scalars likewise. */
ATTN_API attn_status attn_bundle_argument(const attn_bundle *bundle,
                                          size_t index,
                                          attn_argument *argument);

/* Compiles the variants that a compiled bundle does not have yet, and loads all
 * kernels onto `device` now, rather than in the first launch of each. A launch
 * under CUDA graph capture needs this, or an earlier launch of its variant. */
ATTN_API attn_status attn_bundle_prepare(attn_bundle *bundle, DLDevice device);

/* Sets `*variant` to the index, in the plan's list, of the variant that
 * attn_launch runs with these arguments: the first whose condition holds. Reads
 * shapes, strides and scalars, never memory. */
ATTN_API attn_status attn_choose_variant(attn_bundle *bundle,
                                         const attn_launch_args *args,
                                         size_t *variant);

/* Sets `*bytes` to the workspace that attn_launch with these arguments needs:
 * that of the variant that it runs. Reads shapes, strides and scalars, never
 * memory. */
ATTN_API attn_status attn_workspace_size(attn_bundle *bundle,
                                         const attn_launch_args *args,
                                         size_t *bytes);

/* Checks the arguments and enqueues the kernels on the stream. Allocates no
 * device memory, does not synchronize and reads nothing back. Problems of zero
 * size succeed. After a failure the workspace is not ready.
 *
 * The first launch of a variant loads its kernels, and compiles them if
 * attn_compile left that to it; it may then fail as attn_compile does. A later
 * launch tries again.
 *
 * On the simulator the kernels have run when this returns. They may access the
 * elements of the call's tensors, the gaps between those, and the workspace;
 * any other access, a deadlock or a broken rule of the machine ends the launch
 * with ATTN_DEVICE_ERROR and a message that says where. */
ATTN_API attn_status attn_launch(attn_bundle *bundle,
                                 const attn_launch_args *args);

/* Sets an option of the simulator for the process's later launches; none may
 * be running. The values of the first three are decimal numbers:
 *   "seed"     the schedule: 0 is round robin with late copies (the default),
 *              1 round robin with early copies, all others are random
 *   "threads"  host threads to use; 0 for one a core (the default)
 *   "budget"   the number of warp instructions that one CTA may execute
 *   "hazards"  what to do about races and other hazards: "error" fails the
 *              launch (the default), "warn" logs them, "off" does not check
 *   "sums"     of the products in a matrix instruction: "hardware" (the
 *              default) cuts terms as GPUs do, "exact" rounds once
 *   "additions"  "any" (the default), or "ordered": two floating-point
 *              additions to one address that the kernel does not order are a
 *              hazard, since results could differ from run to run
 *   "tensor_memory"  "own" (the default), or "contended": clusters run two at
 *              a time and share the tensor memory of their multiprocessors */
ATTN_API attn_status attn_simulator_option(const char *name, const char *value);

/* -- Compiling: libattn_jit.so ------------------------------------------- */

/* What to compile. Set `size` to sizeof(attn_compile_args), and unused fields
 * to zero. All of it is only read during the call. */
typedef struct attn_compile_args {
  size_t size;
  /* A module with one kernel: a function around an `attn.attention` (the files
   * in examples/), or a kernel of a later stage. MLIR's text or bytecode. */
  const char *ir;
  /* The bytes at `ir`; 0 for text that ends with a zero byte. */
  size_t ir_size;
  /* The machine, as attn_target_name has it; null for the default, which
   * `attn-compile --help` names. */
  const char *target;
  /* The text of a schedule file, in place of the table; null for none. */
  const char *schedule;
  /* The bytes at `schedule`; 0 for text that ends with a zero byte. */
  size_t schedule_size;
  /* Roles that record when they do what, for timelines: names separated by
   * commas, "" for all, null for none. */
  const char *instrument;
  /* Names of arguments, as the attention's launch plan has them: their
   * gradients are compiled in place of the attention. Query, key, value, scale,
   * sinks and captures of floats have gradients; that of the sinks has to
   * stand beside another one. */
  const char *const *gradients;
  size_t num_gradients;
  /* 0 or ATTN_COMPILE_ANY_ORDER. */
  uint64_t flags;
} attn_compile_args;

/* The sums of gradients may be added in another order in each run, which is
 * faster; the last bits then differ. */
#define ATTN_COMPILE_ANY_ORDER 1u

/* Sets `*bundle` to the compiled kernel: from memory, from the cache on disk,
 * or by compiling, which is done once however many threads and processes with
 * this cache ask. If the table chooses among several kernels by the sizes of a
 * launch, the bundle may have its plan alone: the first launch of each variant
 * then compiles it. The caller has to destroy the bundle; it is the same one
 * for every caller with these arguments. On failure `*bundle` is null, and the
 * status is
 *   ATTN_INVALID_ARGUMENT  `ir` is not a valid module, or another argument is
 *                          wrong
 *   ATTN_UNSUPPORTED       attn_supports would return the same
 *   ATTN_COMPILER_ERROR    the compiler failed, see attn_status
 *   ATTN_NOT_COMPILED      the bundle is not in the cache, see attn_status */
ATTN_API attn_status attn_compile(const attn_compile_args *args,
                                  attn_bundle **bundle);

/* Says whether attn_compile can compile this, without compiling: ATTN_SUCCESS,
 * or ATTN_UNSUPPORTED with the reason in attn_last_error(). The reason comes
 * from the passes that attn_compile runs, up to where instructions are chosen:
 * in this thread, or in one that compiles the same. */
ATTN_API attn_status attn_supports(const attn_compile_args *args);

/* Sets `*text` to the compiler's decisions about a module, one per line with
 * the pass that made it: the mask that it found in a mask function, and the
 * operations that stood in the way. Runs the passes that attn_supports runs,
 * and fails as it does; the text is valid until the thread's next call, and
 * null on failure.
 */
ATTN_API attn_status attn_explain(const attn_compile_args *args,
                                  const char **text);

/* Compiles `count` bundles, all variants of each, with up to `threads` threads
 * (0: one a core), so that attn_compile finds them. `statuses`, where it is not
 * null, gets one status each. Returns the first that is not ATTN_SUCCESS, with
 * its message. */
ATTN_API attn_status attn_precompile(const attn_compile_args *const *list,
                                     size_t count, size_t threads,
                                     attn_status *statuses);

/* Writes the key under which the bundle is cached, 64 hexadecimal digits and a
 * zero byte: a hash of all that the bundle depends on, which is these
 * arguments, the build of the compiler and the assembler's version. */
ATTN_API attn_status attn_cache_key(const attn_compile_args *args,
                                    char key[65]);

/* Counts of what attn_compile and attn_precompile have done in this process,
 * and launches that compiled a variant. Set `size` to
 * sizeof(attn_jit_counters). */
typedef struct attn_jit_counters {
  size_t size;
  uint64_t memory_hits;
  uint64_t disk_hits;
  /* Compilations begun, including those that failed: of whole bundles, of plans
   * alone, and of variants. */
  uint64_t compiles;
  uint64_t failures;
  /* Entries of the disk cache that were damaged or not this user's. */
  uint64_t refused_entries;
  double compile_seconds;
} attn_jit_counters;

ATTN_API attn_status attn_jit_count(attn_jit_counters *counters);

/* Sets an option of the compiler for the process's later calls. Each has an
 * environment variable that is read once, before the first call:
 *   "cache_dir"            ATTN_CACHE_DIR: where bundles are kept; by default
 *                          attn/ in the user's cache directory
 *   "cache_readonly_dirs"  ATTN_CACHE_READONLY_DIRS: more such directories,
 *                          separated by ':', searched first and never written
 *   "disable_cache"        ATTN_DISABLE_CACHE: "1" for no cache on disk
 *   "disable_jit"          ATTN_DISABLE_JIT: "1" to fail with
 *                          ATTN_NOT_COMPILED if a kernel is not cached
 *   "max_compiles"         ATTN_MAX_COMPILES: how many compilations this
 *                          process may begin; no limit by default
 *   "dump_dir"             ATTN_DUMP_DIR: a directory that gets the input and
 *                          the outputs of every compilation
 *   "ptxas"                ATTN_PTXAS: the assembler; by default it is searched
 *                          for. "none" leaves its work to the driver, as
 *                          happens if none is found
 * An empty value is the default. */
ATTN_API attn_status attn_jit_option(const char *name, const char *value);

/* Forgets the bundles in memory; callers keep theirs. */
ATTN_API void attn_jit_clear(void);

/* The name of machine `index` that kernels can be compiled for, null past the
 * last one. */
ATTN_API const char *attn_target_name(size_t index);

/* An identifier of the compiler's build: bundles of two compilers with the same
 * one are the same. */
ATTN_API const char *attn_compiler_build(void);

/* -- Messages: libattn_runtime.so ----------------------------------------- */

typedef enum attn_log_level {
  ATTN_LOG_INFO = 0,
  ATTN_LOG_WARNING = 1
} attn_log_level;

/* `message` is valid during the call. */
typedef void (*attn_log_callback)(attn_log_level level, const char *message,
                                  void *user);

/* Sets the function that gets messages about compilations, module loads and the
 * like; null for none, which is the default. It may be called from any thread,
 * also while a bundle is being loaded, so it must not launch or prepare one.
 * Without one, ATTN_LOG=info or ATTN_LOG=warning in the environment, read once,
 * sends messages of that level and above to standard error. */
ATTN_API void attn_set_log_callback(attn_log_callback callback, void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTN_RUNTIME_ATTN_H */
