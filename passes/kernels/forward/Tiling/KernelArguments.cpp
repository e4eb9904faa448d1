// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelArguments.h"
#include "../../Tiling/ArgumentList.h"
#include "../../Tiling/LaunchConditions.h"

using namespace mlir;
using namespace attn;

static void addArguments(AttentionOp attention, KernelArguments &arguments,
                         ArgumentList &list) {
  using namespace attn::names;
  using Role = ArgumentRole;
  list.add(arguments.q, q, Role::Query, attention.getQuery(),
           list.dimsOf(queries, queryHeads, dim));
  list.add(arguments.k, k, Role::Key, attention.getKey(),
           list.dimsOf(keys, keyHeads, dim));
  list.add(arguments.v, v, Role::Value, attention.getValue(),
           list.dimsOf(keys, keyHeads, dimV));
  list.addScale(arguments.scale, attention.getScale());
  list.addBounds(arguments.bounds, attention.getBoundKinds(),
                 attention.getBounds());
  arguments.dropout.addArguments(list, attention.getDropoutRate(),
                                 attention.getDropoutState());
  if (Value given = attention.getSinks()) {
    list.add(arguments.sinks, sinks, Role::Sinks, given, {queryHeads});
  }
  list.addCaptures(arguments.captures, attention.getCaptures());
  list.addResult(arguments.o, o, Role::Output, attention.getOut(),
                 list.dimsOf(queries, queryHeads, dimV));
  list.addResult(arguments.lse, lse, Role::Lse, attention.getLse(),
                 {batches, queryHeads, queries});
}

tile::KernelOp attn::createKernel(TileBuilder &b, AttentionOp attention,
                                  StringRef name, ArgumentNames names,
                                  KernelArguments &arguments) {
  ArgumentList list(b.getContext(), std::move(names),
                    attention.getPositionDim(), attention.getHeadsDim());
  addArguments(attention, arguments, list);
  return list.createKernel(
      b, b.loc, name, attention.getProblem(), *attention.getConfig(),
      [&](tile::KernelOp kernel) {
        describeAttention(kernel, attention, list.captureNames());
      },
      attention.getVariantAttr());
}
