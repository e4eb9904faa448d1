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

static TrialItems allShapes(::attn::Skip skip) {
  constexpr auto None = TrialItem::None, Fewest = TrialItem::Fewest,
                 Most = TrialItem::Most;
  TrialItems shapes;
  for (int trips = 0; trips <= most; ++trips) {
    shapes.push_back({trips});
    if (skip == Skip::None || trips == 0) {
      continue;
    }
    bool isBoth = skip == Skip::Both;
    shapes.push_back({trips, Fewest, isBoth ? Fewest : None});
    shapes.push_back({trips, Most, isBoth ? Most : None});
    if (isBoth) {
      shapes.push_back({trips, None, Most});
    }
  }
  return shapes;
}

std::vector<TrialItems> sched::itemsToTry(::attn::Skip skip, bool exhaustive) {
  if (exhaustive) {
    return allItems(allShapes(skip));
  }
  std::vector<TrialItems> lists = fewItems();
  constexpr auto None = TrialItem::None, Fewest = TrialItem::Fewest,
                 Most = TrialItem::Most;
  bool atEnd = skip == Skip::Both;
  for (int a = 1; a <= most && skip != Skip::None; ++a) {
    lists.push_back({{a, Most}});
    if (atEnd) {
      lists.push_back({{a, None, Most}});
      lists.push_back({{a, Most, Most}});
    }
  }
  for (ArrayRef<int> mixture : mixtures) {
    if (skip != Skip::None) {
      lists.push_back(
          {{mixture[0], Most}, {mixture[1], None}, {mixture[2], Fewest}});
    }
    if (atEnd) {
      lists.push_back({{mixture[0], Fewest, Most},
                       {mixture[1], None, Fewest},
                       {mixture[2], Most, None}});
    }
  }
  return lists;
}

int sched::countSkipped(TrialItem::Skip skip, int others, int rows,
                        int columns) {
  switch (skip) {
  case TrialItem::None:
    return 0;
  case TrialItem::Fewest:
    return others * rows / columns;
  case TrialItem::Most:
    return int(llvm::divideCeil(others * rows, columns));
  }
  return 0;
}
