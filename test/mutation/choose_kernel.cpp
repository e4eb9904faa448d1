// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "choose_kernel.h"

#include "ptx/module.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace attn;
using nlohmann::json;

/// The plan's text with only that variant; empty if there is none.
static std::string choosePlan(const std::string &text,
                              const std::string &name) {
  json plan = json::parse(text);
  for (json variant : plan["variants"]) {
    if (variant["launches"][0]["kernel"] == name) {
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
  std::string plan = choosePlan(bundle.plan, name);
  if (plan.empty()) {
    err = "expected a variant that launches '" + name + "'";
    return false;
  }
  using Item = sim::ptx::Module::Item;
  auto isOther = [&](const Item &item) {
    return item.kind == Item::Kind::Function &&
           module.functions[item.index].isEntry &&
           module.functions[item.index].name != name;
  };
  auto &items = module.items;
  items.erase(std::remove_if(items.begin(), items.end(), isOther), items.end());
  bundle.plan = std::move(plan);
  bundle.ptx = sim::ptx::print(module);
  return true;
}
