// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the Python package uses of libattn_runtime.so beside the public
// interface: a launch with Python's objects, which costs a tenth of what making
// C structs from them in Python does. Python itself is called by address, so
// that one library serves every version and programs without it. Both have to
// be of one version.

#ifndef ATTN_RUNTIME_LIB_FOR_PYTHON_H
#define ATTN_RUNTIME_LIB_FOR_PYTHON_H

#include "attn/runtime/attn.h"

/// Functions of Python, by the names that they have there.
struct attn_python {
  void *(*PyEval_SaveThread)(void);
  void (*PyEval_RestoreThread)(void *);
  void *(*PyCapsule_GetPointer)(void *capsule, const char *name);
  void (*Py_IncRef)(void *);
};

/// To be called once, before any other function here.
extern "C" ATTN_API void attn_internal_set_python(const attn_python *functions);

/// A launch, but for its tensors. Not to be used by two threads at once.
struct attn_object_launch {
  attn_bundle *bundle;
  /// How the framework reads its objects.
  const DLPackExchangeAPI *api;
  /// Exchanges dims 1 and 2 of the tensors of rank 4.
  int32_t heads_first;
  size_t num_scalars;
  const double *scalars;
  /// The workspace is ready for launches on `workspace_stream`, and not for
  /// graph capture.
  int32_t needs_workspace;
  void *workspace;
  size_t workspace_size;
  void *workspace_stream;
  /// Objects to return: for success; for a call that has to be made in full,
  /// since it fails or an output may share memory with another tensor; and
  /// where the workspace is not for the current stream.
  void *done;
  void *failed;
  void *elsewhere;
};

/// A function of Python's METH_FASTCALL convention. `self` is a capsule named
/// "attn_object_launch"; the arguments are the plan's tensors in its order.
extern "C" ATTN_API void *
attn_internal_launch_objects(void *self, void *const *objects, ptrdiff_t count);

#endif // ATTN_RUNTIME_LIB_FOR_PYTHON_H
