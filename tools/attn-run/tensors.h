// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors of a problem: one for every tensor argument of the plan.

#ifndef ATTN_TOOLS_ATTN_RUN_TENSORS_H
#define ATTN_TOOLS_ATTN_RUN_TENSORS_H

#include "host_tensor.h"
#include "problem.h"

namespace attn::run {

/// What all tensors of a problem may take: half of the host's memory, since a
/// copy and the reference need the rest.
double mostTensorBytes();

/// Makes and fills the tensors in the order of the plan's tensor arguments.
/// False if an argument is one whose shape or content is not known here.
bool makeTensors(const runtime::LaunchPlan &plan, const Problem &problem,
                 std::vector<HostTensor> &tensors, std::string &err);

/// The tensor called `name`, or null.
const HostTensor *findTensor(const std::vector<HostTensor> &tensors,
                             const std::string &name);

/// The shape of argument `name` if it is one that every plan has.
bool knownShape(const std::string &name, const Problem &problem,
                std::vector<int64_t> &shape);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_TENSORS_H
