// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a problem: one for every tensor argument of the plan.

#ifndef ATTN_TOOLS_ATTN_RUN_TENSORS_H
#define ATTN_TOOLS_ATTN_RUN_TENSORS_H

#include "host_tensor.h"
#include "problem.h"

namespace attn::run {

/// Makes and fills the tensors in the order of the plan's tensor arguments.
/// False if an argument is one whose shape or content is not known here.
bool makeTensors(const runtime::LaunchPlan &plan, const Problem &problem,
                 std::vector<HostTensor> &tensors, std::string &err);

/// The tensor called `name`, or null.
const HostTensor *findTensor(const std::vector<HostTensor> &tensors,
                             const std::string &name);

/// ALiBi's slope of query head `head`: 2^(-8 (head + 1) / heads).
float alibiSlope(int64_t head, int64_t heads);

/// `length` sorted document ids of batch `batch`, starting at 0.
std::vector<int32_t> documentIds(uint64_t seed, int64_t batch, int64_t length);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TENSORS_H
