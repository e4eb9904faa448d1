// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "slices.h"

#include <algorithm>
#include <array>
#include <set>

using namespace attn::mutation;
using Operand = attn::sim::ptx::Operand;

const char *attn::mutation::nameOf(Role role) {
  static constexpr const char *kNames[] = {
      "none",       "phase", "stage",   "descriptor", "count",
      "coordinate", "mask",  "address", "branch"};
  return kNames[size_t(role)];
}

/// Integer and predicate arithmetic.
static bool isFollowed(const Node &node) {
  static constexpr std::array<std::string_view, 26> kOpcodes = {
      "mov", "add", "sub", "mul",  "mad",  "shl",  "shr",  "and",  "or",
      "xor", "not", "neg", "bfe",  "bfi",  "min",  "max",  "selp", "setp",
      "div", "rem", "cvt", "cvta", "shfl", "lop3", "prmt", "mapa"};
  for (std::string_view type : {".f16", ".bf16", ".f32", ".f64"}) {
    if (node.has(type)) {
      return false;
    }
  }
  return node.instruction &&
         std::find(kOpcodes.begin(), kOpcodes.end(),
                   node.instruction->opcode) != kOpcodes.end();
}

namespace {

class Slicer {
public:
  explicit Slicer(const Code &code) : code(code), roles(code.size()) {
    for (size_t i = 0; i < code.size(); ++i) {
      for (const std::string &name : code[i].writes) {
        definitions.emplace(name, i);
      }
    }
  }

  std::vector<Role> run();

private:
  void use(Role role, size_t statement, const Operand &operand);
  void useOperands(size_t statement);
  void useMbarrier(size_t statement);
  void useCopy(size_t statement);
  void useTensor(size_t statement);
  void follow(Role role);

  const Code &code;
  std::vector<Role> roles;
  std::multimap<std::string, size_t> definitions;
  std::map<Role, std::set<std::string>> names;
};

} // namespace

void Slicer::use(Role role, size_t statement, const Operand &operand) {
  if (operand.kind == Operand::Kind::Name) {
    names[role].insert(code.resolve(statement, operand.name));
  }
  for (const Operand &element : operand.elements) {
    use(role, statement, element);
  }
}

void Slicer::useMbarrier(size_t statement) {
  for (const Operand &operand : code[statement].instruction->operands) {
    if (operand.kind == Operand::Kind::Address) {
      use(Role::Stage, statement, operand);
    } else if (&operand != &code[statement].instruction->operands[0]) {
      bool isWait = code[statement].has(".parity");
      use(isWait ? Role::Phase : Role::Count, statement, operand);
    }
  }
}

void Slicer::useCopy(size_t statement) {
  for (const Operand &operand : code[statement].instruction->operands) {
    if (operand.kind != Operand::Kind::Address) {
      continue;
    }
    bool isTensor = operand.elements.size() > 1;
    use(isTensor ? Role::Coordinate : Role::Stage, statement,
        isTensor ? operand.elements[1] : operand);
  }
}

/// Of tcgen05: places, descriptors, columns, and the CTAs of a commit.
void Slicer::useTensor(size_t statement) {
  const Node &node = code[statement];
  for (const Operand &operand : node.instruction->operands) {
    if (operand.kind == Operand::Kind::Address) {
      use(Role::Stage, statement, operand);
    } else if (node.has(".mma")) {
      use(Role::Descriptor, statement, operand);
    } else if (!node.has(".ld") && !node.has(".st")) {
      use(Role::Count, statement, operand);
    }
  }
}

void Slicer::useOperands(size_t statement) {
  const Node &node = code[statement];
  const std::vector<Operand> &operands = node.instruction->operands;
  if (node.is("mbarrier")) {
    useMbarrier(statement);
  } else if (node.is("cp")) {
    useCopy(statement);
  } else if (node.is("tcgen05")) {
    useTensor(statement);
  } else if (node.has(".mma_async")) {
    for (size_t i = 1; i < operands.size(); ++i) {
      if (operands[i].kind == Operand::Kind::Name) {
        use(Role::Descriptor, statement, operands[i]);
      }
    }
  } else if (node.is("bar")) {
    for (const Operand &operand : operands) {
      use(Role::Count, statement, operand);
    }
  } else if (node.is("selp")) {
    use(Role::Mask, statement, operands[3]);
  } else if (node.is("cvt") && node.has(".f32")) {
    use(Role::Mask, statement, operands[1]);
  } else if (node.is("st") || node.is("stmatrix") || node.is("ld")) {
    use(Role::Address, statement, operands[node.is("ld") ? 1 : 0]);
  }
  if (!node.instruction->guard.empty()) {
    names[Role::Branch].insert(
        code.resolve(statement, node.instruction->guard));
  }
}

/// Gives `role` to everything that its names are computed from.
void Slicer::follow(Role role) {
  std::vector<std::string> pending(names[role].begin(), names[role].end());
  while (!pending.empty()) {
    std::string name = std::move(pending.back());
    pending.pop_back();
    auto range = definitions.equal_range(name);
    for (auto each = range.first; each != range.second; ++each) {
      size_t at = each->second;
      if (roles[at] == Role::None && isFollowed(code[at])) {
        roles[at] = role;
        pending.insert(pending.end(), code[at].reads.begin(),
                       code[at].reads.end());
      }
    }
  }
}

std::vector<Role> Slicer::run() {
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].instruction) {
      useOperands(i);
    }
  }
  for (Role role :
       {Role::Phase, Role::Stage, Role::Descriptor, Role::Count,
        Role::Coordinate, Role::Mask, Role::Address, Role::Branch}) {
    follow(role);
  }
  return std::move(roles);
}

std::vector<Role> attn::mutation::findRoles(const Code &code) {
  return Slicer(code).run();
}
