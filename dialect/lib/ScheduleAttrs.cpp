// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text form and accessors of #attn.schedule; checks of #attn.config.
#include "attn/dialect/Attn.h"

using namespace mlir;
using namespace attn;

RoleAttr ScheduleAttr::findRole(StringRef name) const {
  for (RoleAttr role : getRoles()) {
    if (role.getName().getValue() == name) {
      return role;
    }
  }
  return {};
}

PlaceAttr ScheduleAttr::findPlace(StringRef name) const {
  for (PlaceAttr place : getPlaces()) {
    if (place.getName().getValue() == name) {
      return place;
    }
  }
  return {};
}

BodyAttr ScheduleAttr::findBody(StringRef role, int64_t replica) const {
  BodyAttr common;
  for (BodyAttr body : getBodies()) {
    if (body.getRole().getValue() != role) {
      continue;
    }
    if (body.getReplica() == replica) {
      return body;
    }
    if (body.getReplica() < 0) {
      common = body;
    }
  }
  return common;
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) { return {}; }
void ScheduleAttr::print(AsmPrinter &printer) const {}

LogicalResult ConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t tileM, int64_t tileN, WorkKind work,
                                 WorkOrder order, int64_t threshold,
                                 int64_t degree, int64_t ctaGroup) {
  return success();
}
