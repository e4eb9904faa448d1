// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libattn_runtime.so for the Python package only: launches with
// Python objects, at a tenth of the cost of building C structs in Python.
// Python itself is called by address, so that one library works with every
// Python version and in programs without Python. Library and package must have
// the same version.

#ifndef ATTN_RUNTIME_LIB_FOR_PYTHON_H
#define ATTN_RUNTIME_LIB_FOR_PYTHON_H

#include "attn/runtime/attn.h"

/// Functions of Python, under their names there.
struct attn_python {
  void *(*PyEval_SaveThread)(void);
  void (*PyEval_RestoreThread)(void *);
  void *(*PyCapsule_GetPointer)(void *capsule, const char *name);
  void (*Py_IncRef)(void *);
};

/// Must be called once, before any other function here.
extern "C" ATTN_API void attn_internal_set_python(const attn_python *functions);

/// Where the workspace of a launch is.
enum attn_object_workspace {
  ATTN_NO_WORKSPACE = 0,
  /// In the struct: ready for launches on `workspace_stream`, but not for graph
  /// capture.
  ATTN_KEPT_WORKSPACE = 1,
  /// The last object of the call, of rank 1 and bytes; it may contain anything.
  ATTN_GIVEN_WORKSPACE = 2,
};

/// A launch without its tensors. Two threads must not use it at the same time.
struct attn_object_launch {
  attn_bundle *bundle;
  /// The framework's interface for reading its objects.
  const DLPackExchangeAPI *api;
  /// Exchanges dims 1 and 2 of the tensors of rank 4.
  int32_t heads_first;
  size_t num_scalars;
  const double *scalars;
  int32_t workspace_kind; // attn_object_workspace
  void *workspace;
  size_t workspace_size;
  void *workspace_stream;
  /// Objects to return: on success; for a call that needs the slow path,
  /// because it fails or because an output may share memory with another
  /// tensor; and if the workspace is not for the current stream.
  void *done;
  void *failed;
  void *elsewhere;
};

/// A function of Python's METH_FASTCALL convention. `self` is a capsule named
/// "attn_object_launch"; the arguments are the plan's tensors in order, and the
/// workspace if it is given.
extern "C" ATTN_API void *
attn_internal_launch_objects(void *self, void *const *objects, ptrdiff_t count);

/// The number of the graph capture that `stream` of a GPU takes part in. It is
/// 0 if there is none, or if the driver does not say.
extern "C" ATTN_API uint64_t attn_internal_capture(int32_t device,
                                                   void *stream);

/// Records that the graph that `stream` records clears `bytes` bytes of memory
/// here. Returns a number that is 0 until the graph and everything made from it
/// are destroyed, and then 1. The number itself is never freed. Returns null on
/// failure.
extern "C" ATTN_API const int32_t *attn_internal_clear_in_graph(int32_t device,
                                                                void *stream,
                                                                void *memory,
                                                                size_t bytes);

/// Lets this thread allocate device memory while others capture graphs.
extern "C" ATTN_API void attn_internal_allow_allocation();

#endif // ATTN_RUNTIME_LIB_FOR_PYTHON_H
