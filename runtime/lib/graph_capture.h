// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA graphs that streams record: which one, and when it is gone.

#ifndef ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H
#define ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H

#include "cuda_device.h"

#include <atomic>

namespace attn::runtime {

/// The capture that a stream takes part in.
struct Capture {
  /// No other capture of this process has it. 0: there is no capture.
  uint64_t id = 0;
  CUgraph graph = nullptr;
};

/// The capture of `stream`, if there is one and the driver tells.
Capture findCapture(const CudaDevice &device, void *stream);

/// A number that becomes 1 when the graph, its copies and what was instantiated
/// from them are destroyed, and until then is 0. Null if the driver refuses.
const std::atomic<int32_t> *watchGraph(const CudaDevice &device, CUgraph graph);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_GRAPH_CAPTURE_H
