// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "choose_kernel.h"

#include "ptx/module.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

using namespace attn;
using nlohmann::json;

using Names = std::set<std::string, std::less<>>;

/// The names of the kernels that a variant of a plan launches.
static Names kernelsOf(const json &variant) {
  Names names;
  for (const json &launch : variant["launches"]) {
    names.insert(launch["kernel"].get<std::string>());
  }
  return names;
}

/// The plan's text with only the first variant that launches the kernel; empty
/// if there is none. `kept`: the kernels that it launches.
static std::string choosePlan(const std::string &text, const std::string &name,
                              Names &kept) {
  json plan = json::parse(text);
  for (json variant : plan["variants"]) {
    kept = kernelsOf(variant);
    if (kept.count(name)) {
      variant["when"] = 1;
      plan["variants"] = json::array({variant});
      return plan.dump();
    }
  }
  return "";
}

bool mutation::chooseKernel(const std::string &name, runtime::Bundle &bundle,
                            std::string &err) {
  sim::ptx::Module module;
  sim::Diagnostic diagnostic;
  if (!sim::ptx::parse(bundle.ptx, module, diagnostic)) {
    err = "PTX: " + diagnostic.text();
    return false;
  }
  Names kept;
  std::string plan = choosePlan(bundle.plan, name, kept);
  if (plan.empty()) {
    err = "expected a variant that launches '" + name + "'";
    return false;
  }
  using Item = sim::ptx::Module::Item;
  auto isEntry = [&](const Item &item) {
    return item.kind == Item::Kind::Function &&
           module.functions[item.index].isEntry;
  };
  auto nameOf = [&](const Item &item) {
    return module.functions[item.index].name;
  };
  auto &items = module.items;
  items.erase(std::remove_if(items.begin(), items.end(),
                             [&](const Item &item) {
                               return isEntry(item) &&
                                      !kept.count(nameOf(item));
                             }),
              items.end());
  // The first kernel is the one that is broken.
  auto first = std::find_if(items.begin(), items.end(), isEntry);
  auto chosen = std::find_if(first, items.end(), [&](const Item &item) {
    return isEntry(item) && nameOf(item) == name;
  });
  std::iter_swap(first, chosen);
  bundle.plan = std::move(plan);
  bundle.ptx = sim::ptx::print(module);
  return true;
}
