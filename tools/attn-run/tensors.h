// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a problem: one for every tensor argument of the plan.

#ifndef ATTN_TOOLS_ATTN_RUN_TENSORS_H
#define ATTN_TOOLS_ATTN_RUN_TENSORS_H

#include "host_tensor.h"
#include "problem.h"

namespace attn::run {

/// The largest size of all tensors of a problem: half of the host's memory,
/// since a copy and the reference need the rest.
double mostTensorBytes();

/// Makes and fills the tensors in the order of the plan's tensor arguments.
/// Returns false if the shape or content of an argument is unknown.
bool makeTensors(const runtime::LaunchPlan &plan, const Problem &problem,
                 std::vector<HostTensor> &tensors, std::string &err);

/// Returns the tensor called `name`, or the first one of a role; or null.
const HostTensor *findTensor(const std::vector<HostTensor> &tensors,
                             const std::string &name);
const HostTensor *findTensor(const std::vector<HostTensor> &tensors,
                             runtime::Role role);

/// Returns the shape of an argument of that role if it is one of the operands.
bool knownShape(std::optional<runtime::Role> role, const Problem &problem,
                std::vector<int64_t> &shape);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TENSORS_H
