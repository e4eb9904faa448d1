// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA graphs that streams record, and when they are destroyed.

#ifndef ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H
#define ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H

#include "cuda_device.h"

#include <atomic>

namespace attn::runtime {

/// The capture that a stream takes part in.
struct Capture {
  /// Unique in this process; 0 if there is no capture.
  uint64_t id = 0;
  CUgraph graph = nullptr;
};

/// Returns the capture of `stream`; its id is 0 if there is none, or if the
/// driver does not report it.
Capture findCapture(const CudaDevice &device, void *stream);

/// Returns a number that is 0 until the graph, its copies and everything
/// instantiated from them are destroyed, and then 1. Returns null if the driver
/// refuses.
const std::atomic<int32_t> *watchGraph(const CudaDevice &device, CUgraph graph);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H
