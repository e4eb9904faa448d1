// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/presets.h"

#include "core/cluster.h"

using namespace attn::sim;

static uint64_t findSpecial(Special special, const Warp &warp, unsigned lane) {
  const Cta &cta = warp.cta;
  const GridLaunch &launch = cta.launch;
  uint32_t thread = warp.index * kLanes + lane;
  const unsigned *block = launch.block;
  const uint32_t bit = 1u << lane;
  unsigned axis = 0;
  switch (special) {
  case Special::TidX:
    return thread % block[0];
  case Special::TidY:
    return thread / block[0] % block[1];
  case Special::TidZ:
    return thread / block[0] / block[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return block[unsigned(special) - unsigned(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return cta.position[unsigned(special) - unsigned(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.grid[unsigned(special) - unsigned(Special::NctaidX)];
  case Special::ClusteridX:
  case Special::ClusteridY:
  case Special::ClusteridZ:
    axis = unsigned(special) - unsigned(Special::ClusteridX);
    return cta.position[axis] / launch.cluster[axis];
  case Special::NclusteridX:
  case Special::NclusteridY:
  case Special::NclusteridZ:
    axis = unsigned(special) - unsigned(Special::NclusteridX);
    return launch.grid[axis] / launch.cluster[axis];
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
    axis = unsigned(special) - unsigned(Special::ClusterCtaidX);
    return cta.position[axis] % launch.cluster[axis];
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ:
    return launch
        .cluster[unsigned(special) - unsigned(Special::ClusterNctaidX)];
  case Special::ClusterCtaRank:
    return cta.rank;
  case Special::ClusterNctaRank:
    return cta.cluster.size();
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NWarpId:
    return (cta.threads + kLanes - 1) / kLanes;
  case Special::LanemaskEq:
    return bit;
  case Special::LanemaskLe:
    return bit | (bit - 1);
  case Special::LanemaskLt:
    return bit - 1;
  case Special::LanemaskGe:
    return ~(bit - 1);
  case Special::LanemaskGt:
    return ~(bit | (bit - 1));
  case Special::NSmId:
    return 1;
  case Special::DynamicSmemSize:
    return launch.dynamicShared;
  case Special::TotalSmemSize:
    return cta.sharedView().size;
  default:
    return 0;
  }
}

void attn::sim::fillPresets(Warp &warp) {
  const Program &program = warp.cta.program;
  for (const PresetSlot &preset : program.presets) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint64_t value = preset.value;
      if (preset.kind == PresetSlot::Kind::Special) {
        value = findSpecial(preset.special, warp, lane);
      } else if (preset.kind == PresetSlot::Kind::SharedAddress) {
        value = warp.cta.ownAddress(uint32_t(preset.value));
      }
      if (preset.wide) {
        warp.wide(preset.slot)[lane] = value;
      } else {
        warp.word(preset.slot)[lane] = uint32_t(value);
      }
    }
  }
  for (uint32_t slot : program.truePredicates) {
    warp.setPredicate(slot, kAllLanes);
  }
  if (program.explicitClusterPredicate != kNone) {
    bool isExplicit = program.hasExplicitCluster || warp.cta.cluster.size() > 1;
    warp.setPredicate(program.explicitClusterPredicate,
                      isExplicit ? kAllLanes : 0);
  }
}
