// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hazards/knowledge.h"

#include <algorithm>

using namespace attn::sim;

void Clock::raise(uint32_t component, uint32_t value) {
  if (value == 0) {
    return;
  }
  if (component >= values.size()) {
    values.resize(component + 1);
  }
  values[component] = std::max(values[component], value);
}

void Clock::join(const Clock &other) {
  if (values.size() < other.values.size()) {
    values.resize(other.values.size());
  }
  for (size_t i = 0; i < other.values.size(); ++i) {
    values[i] = std::max(values[i], other.values[i]);
  }
}

void Clock::meet(const Clock &other) {
  values.resize(std::min(values.size(), other.values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::min(values[i], other.values[i]);
  }
}

static void joinAll(std::map<uint64_t, RemoteKnowledge> &to,
                    const std::map<uint64_t, RemoteKnowledge> &from) {
  for (const auto &[cluster, known] : from) {
    to[cluster].generic.join(known.generic);
    to[cluster].asyncGlobal.join(known.asyncGlobal);
  }
}

void Knowledge::join(const Knowledge &other) {
  generic.join(other.generic);
  asyncShared.join(other.asyncShared);
  asyncGlobal.join(other.asyncGlobal);
  device.join(other.device);
  inits.join(other.inits);
  tensor.join(other.tensor);
  started |= other.started;
  previousEnded |= other.previousEnded;
  joinAll(remote, other.remote);
}

void Knowledge::joinRemote(const Knowledge &other, uint64_t from, uint64_t to) {
  if (from == to) {
    join(other);
    return;
  }
  previousEnded |= other.previousEnded;
  remote[from].generic.join(other.generic);
  remote[from].asyncGlobal.join(other.asyncGlobal);
  joinAll(remote, other.remote);
  auto own = remote.find(to);
  if (own != remote.end()) {
    generic.join(own->second.generic);
    asyncGlobal.join(own->second.asyncGlobal);
    remote.erase(own);
  }
}
