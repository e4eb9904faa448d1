// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HoldTrial.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;

static constexpr StringLiteral passName = "attn-verify-channels: ";

void TrialWarp::restart() {
  next = 0;
  meetingPhase.reset();
  waits.clear();
  arrivals.clear();
  pieces.clear();
  readsOfAll.clear();
  reading.clear();
  adding.clear();
  for (const BarrierEvent &event : events) {
    if (event.kind == BarrierEvent::Put) {
      pieces[event.piece()] = {};
    }
  }
  storing = 0;
}

void HoldTrial::restart() {
  stores.clear();
  reading.clear();
}

void HoldTrial::share(TrialWarp &warp, PieceShare from, PieceShare to) {
  for (auto &[address, piece] : warp.pieces) {
    piece.share = piece.share == from ? to : piece.share;
  }
}

void HoldTrial::tell(TrialWarp &warp) {
  share(warp, PieceShare::Fenced, PieceShare::Told);
  llvm::erase_if(warp.reading, [](const TrialWarp::ReadOfAll &read) {
    return read.isAwaited;
  });
  llvm::erase_if(warp.adding, [](const TrialWarp::Addition &addition) {
    return addition.isAwaited;
  });
}

/// Refuses a put where an addition may still read. A warp adds its own rows;
/// other warps put theirs into the same hold, but all rows of another.
LogicalResult HoldTrial::checkAdditions(const TrialWarp &warp,
                                        const BarrierEvent &put) {
  for (const TrialWarp &other : warps) {
    bool isOwn = &other == &warp;
    for (const TrialWarp::Addition &addition : other.adding) {
      bool reads = isOwn ? !addition.isAwaited : addition.hold != put.hold;
      if (addition.address == put.address && reads) {
        return put.op->emitOpError(passName)
               << "expected the 'ws.reduce_add' of warp " << other.id.index
               << " of replica " << other.id.replica << " to be awaited"
               << (isOwn ? "" : ", and a barrier after it,")
               << " before this piece is put, got one that need not be";
      }
    }
  }
  return success();
}

/// Refuses a put where a store or a product may still read.
LogicalResult HoldTrial::put(TrialWarp &warp, const BarrierEvent &event) {
  for (TrialWarp &other : warps) {
    for (const TrialWarp::ReadOfAll &read : other.reading) {
      bool isOwn = &other == &warp && read.isAwaited;
      if (read.address == event.address && !isOwn) {
        return event.op->emitOpError(passName)
               << "expected warp " << other.id.index << " of replica "
               << other.id.replica
               << " to arrive at a barrier after its await of the 'ws.mma' "
                  "that "
                  "reads this piece, before the next is put, got one that need "
                  "not have";
      }
    }
  }
  if (reading.contains(event.address)) {
    return event.op->emitOpError(passName)
           << "expected the 'ws.store' of the last tile to be awaited "
              "before the next is put, got one that need not be";
  }
  if (failed(checkAdditions(warp, event))) {
    return failure();
  }
  TrialPiece &piece = warp.pieces[event.piece()];
  piece.share = PieceShare::Put;
  ++piece.puts;
  return success();
}

/// A warp's product may only read rows that the warp itself has put.
LogicalResult HoldTrial::read(TrialWarp &warp, const BarrierEvent &event) {
  auto piece = warp.pieces.find(event.piece());
  if (piece != warp.pieces.end() && piece->second.share == PieceShare::Put) {
    return event.op->emitOpError(passName)
           << "expected a fence of the async proxy between 'ws.put' and "
              "what reads it, got none";
  }
  return success();
}

/// A product that reads the pieces of all replicas needs one put of each warp
/// since its last read.
LogicalResult HoldTrial::readAll(TrialWarp &warp, const BarrierEvent &event) {
  int64_t number = ++warp.readsOfAll[event.address];
  for (TrialWarp &other : warps) {
    auto piece = other.pieces.find(event.piece());
    if (piece == other.pieces.end()) {
      continue;
    }
    if (failed(read(other, event))) {
      return failure();
    }
    if (piece->second.share != PieceShare::Told ||
        piece->second.puts != number) {
      return event.op->emitOpError(passName)
             << "expected every warp to arrive at a barrier after its "
                "'ws.put', "
                "got warp "
             << other.id.index << " of replica " << other.id.replica
             << " that need not have";
    }
  }
  warp.reading.push_back({event.op, event.address, false});
  return success();
}

/// Products end in the order of their issue.
void HoldTrial::awaitMma(TrialWarp &warp, const BarrierEvent &event) {
  auto isOf = [&](const TrialWarp::ReadOfAll &read) {
    return read.mma == event.op;
  };
  auto last = llvm::find_if(llvm::reverse(warp.reading), isOf);
  for (auto read = last; read != warp.reading.rend(); ++read) {
    read->isAwaited = true;
  }
}

/// The copy engine reads the puts of all warps, one of each since the last
/// store.
LogicalResult HoldTrial::store(TrialWarp &warp, const BarrierEvent &event) {
  int64_t number = ++stores[event.piece()];
  for (TrialWarp &other : warps) {
    auto piece = other.pieces.find(event.piece());
    if (piece == other.pieces.end()) {
      continue;
    }
    if (failed(read(other, event))) {
      return failure();
    }
    bool isTold = &other == &warp || piece->second.share == PieceShare::Told;
    if (!isTold || piece->second.puts != number) {
      return event.op->emitOpError(passName)
             << "expected every warp of role '" << other.role.getSymName()
             << "' to arrive at a barrier after its 'ws.put', got warp "
             << other.id.index << " that need not have";
    }
  }
  warp.storing |= event.lanes;
  warp.lastStore = event.op;
  reading[event.address] = &warp;
  return success();
}

/// The copy engine reads the rows of this warp, one put since the last
/// addition.
LogicalResult HoldTrial::add(TrialWarp &warp, const BarrierEvent &event) {
  if (failed(read(warp, event))) {
    return failure();
  }
  TrialPiece &piece = warp.pieces[event.piece()];
  if (piece.puts != ++piece.additions) {
    return event.op->emitOpError(passName)
           << "expected one 'ws.put' of the warp before each addition, got "
           << piece.puts << " before addition " << piece.additions;
  }
  warp.storing |= event.lanes;
  warp.lastStore = event.op;
  warp.adding.push_back({event.address, event.hold, false});
  return success();
}

LogicalResult HoldTrial::awaitStores(TrialWarp &warp,
                                     const BarrierEvent &event) {
  if (warp.storing & ~event.lanes) {
    return event.op->emitOpError(passName)
           << "expected the thread that stored to wait, got another";
  }
  warp.storing = 0;
  for (TrialWarp::Addition &addition : warp.adding) {
    addition.isAwaited = true;
  }
  SmallVector<int32_t> own;
  for (auto [address, other] : reading) {
    if (other == &warp) {
      own.push_back(address);
    }
  }
  for (int32_t address : own) {
    reading.erase(address);
  }
  return success();
}
