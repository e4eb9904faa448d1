// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "middle/Synchronization/SyncTrial.h"
#include "reading.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace mlir;
using namespace attn;
using llvm::formatv;

namespace {

/// Spells what tokens of an emitted program do with data in shared memory.
class EmittedLines {
public:
  EmittedLines(ws::KernelOp kernel, const SyncTrial &trial,
               ArrayRef<SyncAgent> agents, const TileContents &contents,
               const SyncPrograms &programs)
      : kernel(kernel), lastCta(kernel.getConfig().getCluster() - 1),
        events(trial.getEvents()), contents(contents), programs(programs) {
    for (const SyncAgent &agent : agents) {
      for (const SyncStep &step : agent.steps) {
        if (auto copy = dyn_cast<ws::CopyOp>(step.event->op)) {
          copies[{step.event->object, step.number}] = copy;
        }
      }
    }
  }

  std::string describe(const Token &token) const {
    if (token.kind == Token::Issue) {
      const AsyncOp &operation = programs.operations[token.first];
      return describe(operation.reads) + " > " + describe(operation.writes);
    }
    std::string reads = describe(token.reads), writes = describe(token.writes);
    return reads.empty() && writes.empty() ? "" : reads + " > " + writes;
  }

private:
  std::string describe(const Tag &tag) const {
    const SyncObject &object = events.objects()[tag.what];
    if (object.kind == SyncObject::Hold) {
      return formatv("{0} of item {1} piece {2}", object.name, tag.item,
                     tag.subtile);
    }
    auto found = copies.find({tag.what, tag.iteration});
    if (found == copies.end()) {
      return formatv("w of item {0}", tag.item);
    }
    ws::CopyOp copy = found->second;
    auto argument = cast<BlockArgument>(copy.getSource());
    auto name = kernel.getArgs()[argument.getArgNumber()].getName();
    std::string text = formatv("{0} of item {1}", name.getValue(), tag.item);
    auto row = contents.rows.find({lastCta, tag.what, tag.iteration});
    bool isOfLoop = name != "q"; // Q is of the item's rows
    if (isOfLoop && row != contents.rows.end()) {
      text += formatv(" row {0}", row->second.at);
    }
    return text;
  }

  std::string describe(Span accesses) const {
    std::set<std::string> texts;
    for (const Access &access : programs.get(accesses)) {
      texts.insert(describe(access.tag));
    }
    return llvm::join(texts, ", ");
  }

  mutable ws::KernelOp kernel;
  int64_t lastCta; // whose tiles are followed
  const SyncEvents &events;
  const TileContents &contents;
  const SyncPrograms &programs;
  std::map<std::pair<int, int64_t>, ws::CopyOp> copies; // by channel and cycle
};

} // namespace

FailureOr<readings::Reading> readings::readEmitted(ws::KernelOp kernel,
                                                   const Items &items) {
  SmallVector<SyncItem> of;
  for (const auto &blocks : items) {
    of.push_back(SyncItem{blocks});
  }
  SyncTrial trial(kernel);
  TileContents contents;
  FailureOr<std::vector<SyncAgent>> agents = trial.unroll(of, &contents);
  if (failed(agents)) {
    return failure();
  }
  SyncPrograms programs = trial.write(*agents);
  for (auto [agent, tokens] : llvm::zip(*agents, programs.programs)) {
    // Schedules do not contain verdicts, nor the mailbox of a cluster.
    llvm::erase_if(tokens, [&steps = agent.steps](const Token &token) {
      SyncEvent::Kind kind = steps[token.item].event->kind;
      return kind == SyncEvent::GiveVerdict || kind == SyncEvent::TakeVerdict ||
             kind == SyncEvent::ShareItem;
    });
  }
  EmittedLines lines(kernel, trial, *agents, contents, programs);
  std::map<std::string, int> names;
  for (auto [i, agent] : llvm::enumerate(*agents)) {
    ws::RoleOp role = agent.role;
    names[formatv("{0}[{1}] of CTA {2}", role.getSymName(), agent.replica,
                  agent.cta)] = i;
  }
  return writeLines(programs, names, [&](int, const Token &token) {
    return lines.describe(token);
  });
}
