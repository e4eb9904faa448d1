// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "for_python.h"

#include "c_handle.h"
#include "graph_capture.h"

#include <algorithm>

using namespace attn::runtime;

namespace {

constexpr ptrdiff_t kMostObjects = 12;
constexpr int kAttentionRank = 4;

/// The tensors of a call, in the form of the public interface.
struct Tensors {
  DLTensor views[kMostObjects];
  const DLTensor *pointers[kMostObjects];
  int64_t sizes[kMostObjects][kAttentionRank];
  int64_t strides[kMostObjects][kAttentionRank];

  void swapHeads(ptrdiff_t index);
};

/// The addresses of a tensor's first and last byte. torch always provides
/// strides, and attn_launch refuses negative ones.
struct Extent {
  uintptr_t first;
  uintptr_t end;

  explicit Extent(const DLTensor &tensor);
  bool meets(const Extent &other) const {
    return first < other.end && other.first < end;
  }
};

} // namespace

Extent::Extent(const DLTensor &tensor) {
  uint64_t last = 0;
  bool empty = false;
  for (int i = 0; i < tensor.ndim; ++i) {
    empty |= tensor.shape[i] == 0;
    last += uint64_t(tensor.shape[i] - 1) *
            uint64_t(tensor.strides ? tensor.strides[i] : 0);
  }
  first = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  end = empty ? first : first + (last + 1) * (tensor.dtype.bits / 8U);
}

/// Swaps dims 1 and 2 of view `index`: (batch, position, head, dim) becomes
/// (batch, head, position, dim) or the reverse.
void Tensors::swapHeads(ptrdiff_t index) {
  DLTensor &view = views[index];
  if (view.ndim != kAttentionRank || !view.strides) {
    return;
  }
  std::copy(view.shape, view.shape + kAttentionRank, sizes[index]);
  std::copy(view.strides, view.strides + kAttentionRank, strides[index]);
  std::swap(sizes[index][1], sizes[index][2]);
  std::swap(strides[index][1], strides[index][2]);
  view.shape = sizes[index];
  view.strides = strides[index];
}

static attn_python python;

extern "C" void attn_internal_set_python(const attn_python *functions) {
  python = *functions;
}

/// Reads the objects. Returns false if Python's error is set.
static bool readObjects(const attn_object_launch &launch, void *const *objects,
                        ptrdiff_t count, Tensors &tensors) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    if (launch.api->dltensor_from_py_object_no_sync(objects[i],
                                                    &tensors.views[i]) != 0) {
      return false;
    }
    if (launch.heads_first) {
      tensors.swapHeads(i);
    }
    tensors.pointers[i] = &tensors.views[i];
  }
  return true;
}

/// Whether a written tensor may share memory with another one. Interleaved
/// tensors count too, even without shared elements: the caller then takes the
/// slow path, which tells them apart.
static bool mayOverlap(const LaunchPlan &plan, const Tensors &tensors,
                       ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (const PlanArg &arg : plan.args) {
    if (!arg.isTensor() || i == count) {
      continue;
    }
    Extent extent(tensors.views[i]);
    for (ptrdiff_t j = 0; arg.access != Access::Read && j < count; ++j) {
      if (i != j && extent.meets(Extent(tensors.views[j]))) {
        return true;
      }
    }
    ++i;
  }
  return false;
}

/// Launches with the first `count` tensors; a given workspace follows them.
static attn_status launchOn(const attn_object_launch &launch,
                            const Tensors &tensors, size_t count,
                            void *stream) {
  attn_launch_args args = {};
  args.size = sizeof(args);
  args.num_tensors = count;
  args.tensors = tensors.pointers;
  args.num_scalars = launch.num_scalars;
  args.scalars = launch.scalars;
  args.device = tensors.views[0].device;
  args.stream = stream;
  if (launch.workspace_kind == ATTN_GIVEN_WORKSPACE) {
    const DLTensor &given = tensors.views[count];
    args.workspace = static_cast<char *>(given.data) + given.byte_offset;
    args.workspace_size = size_t(given.shape[0]);
  } else {
    args.workspace = launch.workspace;
    args.workspace_size = launch.workspace_size;
    args.flags = ATTN_LAUNCH_WORKSPACE_READY;
  }
  // The stream may be full, and its work may wait for another Python thread.
  void *state = python.PyEval_SaveThread();
  attn_status status = attn_launch(launch.bundle, &args);
  python.PyEval_RestoreThread(state);
  return status;
}

/// Whether the workspace is for a launch on `stream`.
static bool suitsWorkspace(const attn_object_launch &launch, DLDevice device,
                           void *stream) {
  if (!launch.workspace || launch.workspace_stream != stream) {
    return false;
  }
  CudaDevice *cuda = nullptr;
  return device.device_type != kDLCUDA ||
         (!getCudaDevice(device.device_id, cuda) && !cuda->isCapturing(stream));
}

/// Launches with tensors that were read; returns the result for Python.
static void *launchTensors(const attn_object_launch &launch,
                           const Tensors &tensors, size_t count) {
  DLDevice device = tensors.views[0].device;
  void *stream = nullptr;
  if (device.device_type == kDLCUDA &&
      launch.api->current_work_stream(device.device_type, device.device_id,
                                      &stream) != 0) {
    return nullptr;
  }
  if (launch.workspace_kind == ATTN_KEPT_WORKSPACE &&
      !suitsWorkspace(launch, device, stream)) {
    return launch.elsewhere;
  }
  attn_status status = launchOn(launch, tensors, count, stream);
  return status == ATTN_SUCCESS ? launch.done : launch.failed;
}

extern "C" void *attn_internal_launch_objects(void *self, void *const *objects,
                                              ptrdiff_t count) {
  auto *launch = static_cast<const attn_object_launch *>(
      python.PyCapsule_GetPointer(self, "attn_object_launch"));
  Tensors tensors;
  if (!launch || count < 1 || count > kMostObjects ||
      !readObjects(*launch, objects, count, tensors)) {
    return nullptr;
  }
  count -= launch->workspace_kind == ATTN_GIVEN_WORKSPACE;
  void *result = mayOverlap(launch->bundle->loaded->getPlan(), tensors, count)
                     ? launch->failed
                     : launchTensors(*launch, tensors, size_t(count));
  python.Py_IncRef(result); // it accepts null
  return result;
}

extern "C" uint64_t attn_internal_capture(int32_t device, void *stream) {
  CudaDevice *cuda = nullptr;
  return getCudaDevice(device, cuda) ? 0 : findCapture(*cuda, stream).id;
}

extern "C" const int32_t *attn_internal_clear_in_graph(int32_t device,
                                                       void *stream,
                                                       void *memory,
                                                       size_t bytes) {
  static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t));
  CudaDevice *cuda = nullptr;
  if (getCudaDevice(device, cuda)) {
    return nullptr;
  }
  Capture capture = findCapture(*cuda, stream);
  if (!capture.id || cuda->clear(memory, bytes, stream)) {
    return nullptr;
  }
  return reinterpret_cast<const int32_t *>(watchGraph(*cuda, capture.graph));
}

extern "C" void attn_internal_allow_allocation() {
  const CudaDriver *driver = nullptr;
  int mode = kCaptureModeRelaxed;
  if (!loadCudaDriver(driver)) {
    driver->threadExchangeStreamCaptureMode(&mode);
  }
}
