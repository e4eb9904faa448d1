// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rule V29 for channels and holds.
#include "Lowerable.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

namespace {

class PlaceChecker {
public:
  PlaceChecker(const Lowerable &lowerable, const Place &place)
      : lowerable(lowerable), bound(lowerable.bound), kernel(lowerable.kernel),
        place(place) {}

  LogicalResult check();

private:
  /// Refuses the place, which is of a kind.
  LogicalResult refuseIf(bool says, Mechanism mechanism, StringRef kind,
                         StringRef what) const {
    return lowerable.refuseIf(says, mechanism, [&] {
      return formatv("{0} {1} {2}", kind, quote(place.name), what).str();
    });
  }
  /// Refuses the place because of one of its values.
  LogicalResult refuseIf(bool says, Mechanism mechanism, int value,
                         StringRef why) const {
    return lowerable.refuseIf(says, mechanism, [&] {
      return formatv("{0} {1}{2} of '{3}', {4}",
                     place.channel ? "channel" : "hold", quote(place.name),
                     place.channel ? "" : " in 'smem'",
                     kernel.values[value].name, why)
          .str();
    });
  }
  bool isCopied(int value) const {
    const KernelStep *producer = kernel.producerOf(value);
    return producer && producer->engine == Engine::Copy;
  }
  bool isTileWithRows() const;
  LogicalResult checkHomes(int value) const;
  LogicalResult checkChannel(int value) const;
  LogicalResult checkRows(int value) const;
  LogicalResult checkHold(int value) const;

  const Lowerable &lowerable;
  const BoundSchedule &bound;
  const KernelModel &kernel;
  const Place &place;
};

} // namespace

/// Checks a channel: a copy fills a slot with a 16-bit tile, and MMAs read it.
LogicalResult PlaceChecker::checkChannel(int index) const {
  const KernelValue &value = kernel.values[index];
  bool isLoaded = isCopied(index) && value.origin == Origin::Step;
  if (value.isWork) {
    bool isBare = !place.hasFull || !place.hasFree || !place.hosts.empty() ||
                  place.cycles.size() > 1;
    return refuseIf(isBare, Mechanism::BareWork, "channel",
                    "of work items without barriers and memory of its own");
  }
  if (isLoaded && value.shape.size() == 1) {
    return checkRows(index);
  }
  bool isTile = isLoaded && value.shape.size() == 2 && value.elementBytes == 2;
  bool isRead = llvm::any_of(kernel.steps, [&](const KernelStep &step) {
    return step.engine != Engine::Mma && llvm::is_contained(step.reads, index);
  });
  return failure(failed(refuseIf(!isLoaded, Mechanism::FilledByThreads, index,
                                 "which no load makes")) ||
                 failed(refuseIf(!isTile, Mechanism::OddChannel, index,
                                 "which is no tile of 16-bit elements")) ||
                 failed(refuseIf(isRead, Mechanism::ReadByThreads, index,
                                 "which is read other than by MMAs")));
}

/// Checks a channel of row vectors, which threads read: each of them the
/// elements of its columns.
LogicalResult PlaceChecker::checkRows(int index) const {
  const KernelValue &value = kernel.values[index];
  constexpr int64_t copyBytes = 16;
  bool isOdd = value.elementBytes != 4 || value.bytes() % copyBytes != 0 ||
               !bound.axisOf(index).empty();
  return refuseIf(isOdd, Mechanism::OddChannel, index,
                  "which is no row vector of 32-bit elements that all "
                  "sub-tiles read");
}

/// Whether a step stores tiles, or adds them to memory, from shared memory.
static bool movesHolds(const KernelStep &step) {
  return step.holds<tile::StoreOp, tile::ReduceAddOp>();
}

/// Whether a tile may be in a hold in shared memory: between registers and a
/// store or an addition to memory, or as the A of an MMA, or B beside a
/// transposed A.
static bool isHoldable(const KernelModel &kernel, int value) {
  return llvm::all_of(kernel.steps, [&](const KernelStep &step) {
    return !llvm::is_contained(step.reads, value) ||
           (step.a == value && step.b != value) ||
           (step.b == value && step.a != value && step.isTransposedA()) ||
           movesHolds(step);
  });
}

/// Whether steps read a value, all of them to add it to memory.
static bool isAdded(const KernelModel &kernel, int value) {
  auto reads = [&](const KernelStep &step) {
    return llvm::is_contained(step.reads, value);
  };
  return llvm::any_of(kernel.steps, reads) &&
         llvm::all_of(kernel.steps, [&](const KernelStep &step) {
           return !reads(step) || step.holds<tile::ReduceAddOp>();
         });
}

LogicalResult PlaceChecker::checkHold(int index) const {
  const KernelValue &value = kernel.values[index];
  int64_t bytes = isAdded(kernel, index) ? 4 : 2;
  bool isTile = value.shape.size() == 2 && value.elementBytes == bytes;
  const KernelStep *producer = kernel.producerOf(index);
  bool isRing = producer && producer->holds<tile::ShareOp>();
  return failure(
      failed(refuseIf((place.depth > 1 && !isRing) || place.cycles.size() > 1,
                      Mechanism::DeepHold, "hold",
                      "in 'smem' of several values or depths")) ||
      failed(refuseIf(isCopied(index), Mechanism::CopiedHold, index,
                      "which is loaded")) ||
      failed(
          refuseIf(value.origin != Origin::Step || !isHoldable(kernel, index),
                   Mechanism::HeldByThreads, index,
                   "which is read other than by a store or as A of an "
                   "MMA")) ||
      failed(refuseIf(!isTile, Mechanism::OddHold, index,
                      bytes == 4 ? "which is no tile of 32-bit elements"
                                 : "which is no tile of 16-bit elements")));
}

/// Whether a place is a channel of one cycle, a tile and then row vectors.
/// These are in channels of their own names `with` that of the tile.
bool PlaceChecker::isTileWithRows() const {
  ArrayRef<int> values = place.cycles.front();
  auto isRow = [&](int value) {
    return kernel.values[value].shape.size() == 1 &&
           llvm::none_of(bound.places, [&](const Place &other) {
             return other.name == kernel.values[value].name;
           });
  };
  return place.channel && place.space == Space::Smem &&
         place.cycles.size() == 1 && place.hosts.empty() && !place.inCluster &&
         place.hasFull && place.hasFree &&
         kernel.values[values.front()].shape.size() == 2 &&
         llvm::all_of(values.drop_front(), isRow);
}

/// Refuses a second place in memory for a value, if anything other than the
/// step's own threads fills or reads it.
LogicalResult PlaceChecker::checkHomes(int value) const {
  auto isMaterial = [&](const Place &home) {
    return home.carries(value) &&
           (home.channel || home.space == Space::Smem || isCopied(value));
  };
  for (const Place &other : bound.places) {
    bool isSecond = &other < &place && isMaterial(place) && isMaterial(other);
    if (failed(lowerable.refuseIf(isSecond, Mechanism::SeveralHomes, [&] {
          return formatv("'{0}' in '{1}' and in '{2}'",
                         kernel.values[value].name, other.name, place.name)
              .str();
        }))) {
      return failure();
    }
  }
  return success();
}

LogicalResult PlaceChecker::check() {
  if (failed(
          refuseIf(place.parts > 1, Mechanism::Parts, "place", "in parts")) ||
      failed(refuseIf(place.cross, Mechanism::OverCross, "place",
                      "over another sub-tile")) ||
      failed(refuseIf(!place.only.empty(), Mechanism::SomeReaders, "place",
                      "'for' some steps")) ||
      failed(refuseIf(place.members > 1 && !isTileWithRows(),
                      Mechanism::SeveralValues, "place",
                      "of several values a cycle")) ||
      failed(lowerable.refuseIf(place.channel && place.space != Space::Smem,
                                Mechanism::ChannelOutsideSmem, [&] {
                                  return formatv("channel {0} in '{1}'",
                                                 quote(place.name),
                                                 stringifySpace(place.space))
                                      .str();
                                }))) {
    return failure();
  }
  for (const auto &cycle : place.cycles) {
    for (int value : cycle) {
      bool isHeld = !place.channel && place.space == Space::Smem;
      if (failed(checkHomes(value)) ||
          (place.channel && failed(checkChannel(value))) ||
          (isHeld && failed(checkHold(value)))) {
        return failure();
      }
    }
  }
  return success();
}

LogicalResult sched::checkLowerablePlaces(const Lowerable &lowerable) {
  return failure(llvm::any_of(lowerable.bound.places, [&](const Place &place) {
    return failed(PlaceChecker(lowerable, place).check());
  }));
}
