// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks. A clock has a component for each thread of a cluster and for
// each kind of asynchronous completion; the value of a component is the last
// epoch whose accesses are known to be complete.

#ifndef ATTN_SIM_HAZARDS_KNOWLEDGE_H
#define ATTN_SIM_HAZARDS_KNOWLEDGE_H

#include <cstdint>
#include <map>
#include <vector>

namespace attn::sim {

class Clock {
public:
  uint32_t operator[](uint32_t component) const {
    return component < values.size() ? values[component] : 0;
  }
  void raise(uint32_t component, uint32_t value);
  /// Makes it know what either clock knew.
  void join(const Clock &other);
  /// Makes it know what both clocks knew.
  void meet(const Clock &other);
  bool isEmpty() const { return values.empty(); }

private:
  std::vector<uint32_t> values;
};

/// The knowledge about the accesses of another cluster to global memory.
struct RemoteKnowledge {
  Clock generic;
  Clock asyncGlobal;
};

/// The knowledge about tensor memory. Some synchronization passes on only this
/// part. A thread's component says which of its operations are known to be
/// issued; other components say which operations are known to be complete.
struct TensorKnowledge {
  Clock ordered;
  /// The part that a tcgen05.fence::before_thread_sync, or an instruction that
  /// implies one, has released.
  Clock fenced;

  void join(const TensorKnowledge &other) {
    ordered.join(other.ordered);
    fenced.join(other.fenced);
  }
};

/// The actions that are ordered before the next access of a thread.
struct Knowledge {
  /// ... if that access is a plain load or store.
  Clock generic;
  /// ... if it is made by the async proxy, for each memory.
  Clock asyncShared;
  Clock asyncGlobal;
  /// The actions that fences have made visible to the whole device.
  Clock device;
  /// The mbarrier inits that fence.mbarrier_init has released.
  Clock inits;
  TensorKnowledge tensor;
  /// The CTAs of the cluster that are known to have started, one bit each.
  uint32_t started = 0;
  /// The launches before this one are known to have ended.
  bool previousEnded = false;
  /// By cluster number.
  std::map<uint64_t, RemoteKnowledge> remote;

  void join(const Knowledge &other);
  /// Does the same with the knowledge of a thread of cluster `from`, for a
  /// thread of cluster `to`.
  void joinRemote(const Knowledge &other, uint64_t from, uint64_t to);
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_KNOWLEDGE_H
