// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The purpose of integer arithmetic, found by following it back from the
// instructions that use its results.

#ifndef ATTN_TEST_MUTATION_SLICES_H
#define ATTN_TEST_MUTATION_SLICES_H

#include "code.h"

namespace attn::mutation {

/// In order of priority, for an instruction with several purposes.
enum class Role {
  None,
  Phase,      // parities of waits
  Stage,      // addresses of barriers and of copies in shared memory
  Descriptor, // of matrices
  Count,      // bytes, arrivals, ids and sizes of barriers
  Coordinate, // of copies
  Mask,       // what scores are masked by, and score indices
  Address,    // of generic accesses
  Branch
};

const char *nameOf(Role role);

/// The role of every statement.
std::vector<Role> findRoles(const Code &code);

} // namespace attn::mutation

#endif // ATTN_TEST_MUTATION_SLICES_H
