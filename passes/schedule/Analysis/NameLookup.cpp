// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NameLookup.h"

using namespace mlir;
using namespace attn;
using namespace attn::sched;
using llvm::formatv;

LogicalResult NameLookup::refuse(StringAttr name, StringRef user,
                                 StringRef kind) const {
  return reject(emitError, "V1",
                formatv("expected {0} to name a {1}, got '{2}'", user, kind,
                        name.getValue()));
}

LogicalResult NameLookup::findValue(StringAttr name, StringRef user,
                                    int &value) const {
  value = bound.kernel->findValue(name.getValue());
  return value >= 0 ? success() : refuse(name, user, "value of the kernel");
}

LogicalResult NameLookup::findStep(StringAttr name, StringRef user,
                                   int &step) const {
  step = bound.kernel->findStep(name.getValue());
  return step >= 0 ? success() : refuse(name, user, "step of the kernel");
}

LogicalResult NameLookup::findRole(StringAttr name, StringRef user,
                                   int &role) const {
  for (auto [i, entry] : llvm::enumerate(bound.roles)) {
    if (entry.name == name.getValue()) {
      role = i;
      return success();
    }
  }
  return refuse(name, user, "role");
}
