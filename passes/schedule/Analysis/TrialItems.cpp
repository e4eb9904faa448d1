// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TrialItems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace attn;
using namespace attn::sched;
using llvm::ArrayRef;

/// The largest number of iterations of an item, except in mixtures.
static constexpr int most = 3;

static const int mixtures[][3] = {{3, 0, 2}, {1, 3, 2}, {2, 1, 0}, {0, 3, 1},
                                  {3, 2, 1}, {1, 2, 3}, {5, 4, 6}, {7, 1, 5}};

static TrialItems itemsOf(ArrayRef<int> trips) {
  TrialItems items;
  for (int trip : trips) {
    items.push_back({trip});
  }
  return items;
}

static std::vector<TrialItems> fewItems() {
  std::vector<TrialItems> lists;
  for (int a = 0; a <= most; ++a) {
    lists.push_back(itemsOf({a}));
  }
  for (int a = 0; a <= most; ++a) {
    for (int b = 0; b <= most; ++b) {
      lists.push_back(itemsOf({a, b}));
    }
  }
  for (int a = 0; a <= most; ++a) {
    lists.push_back(itemsOf({a, a, a}));
  }
  for (ArrayRef<int> mixture : mixtures) {
    lists.push_back(itemsOf(mixture));
  }
  return lists;
}

/// Returns all lists of up to three of the shapes.
static std::vector<TrialItems> allItems(ArrayRef<TrialItem> shapes) {
  std::vector<TrialItems> lists(1), longest(1);
  for (int length = 1; length <= 3; ++length) {
    std::vector<TrialItems> longer;
    for (const TrialItems &list : longest) {
      for (const TrialItem &shape : shapes) {
        longer.push_back(list);
        longer.back().push_back(shape);
      }
    }
    longest = std::move(longer);
    llvm::append_range(lists, longest);
  }
  lists.erase(lists.begin());
  return lists;
}

std::vector<TrialItems> sched::itemsToTry(bool skips, bool exhaustive) {
  if (exhaustive) {
    TrialItems shapes;
    for (int trips = 0; trips <= most; ++trips) {
      shapes.push_back({trips});
      if (skips && trips > 0) {
        shapes.push_back({trips, TrialItem::Fewest});
        shapes.push_back({trips, TrialItem::Most});
      }
    }
    return allItems(shapes);
  }
  std::vector<TrialItems> lists = fewItems();
  if (!skips) {
    return lists;
  }
  for (int a = 1; a <= most; ++a) {
    lists.push_back({{a, TrialItem::Most}});
  }
  for (ArrayRef<int> mixture : mixtures) {
    lists.push_back({{mixture[0], TrialItem::Most},
                     {mixture[1], TrialItem::None},
                     {mixture[2], TrialItem::Fewest}});
  }
  return lists;
}

int sched::countSkipped(const TrialItem &item, int later, int rows,
                        int columns) {
  switch (item.skip) {
  case TrialItem::None:
    return 0;
  case TrialItem::Fewest:
    return std::min(item.trips, later * rows / columns);
  case TrialItem::Most:
    return std::min<int>(item.trips, llvm::divideCeil(later * rows, columns));
  }
  return 0;
}
