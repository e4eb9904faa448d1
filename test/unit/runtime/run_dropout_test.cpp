// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which pairs dropout keeps: known answers, and statistics.

#include "dropout.h"

#include "numbers.h"
#include "region.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn::run;

namespace {

constexpr std::array<uint64_t, 2> kState = {0x0123456789abcdef,
                                            0xfedcba9876543210};

/// The pairs of a query with each key, as 1 where they are kept.
std::string pairsOf(const Dropout &dropout, const Row &row,
                    const std::vector<int64_t> &keys) {
  std::string text;
  for (int64_t key : keys) {
    text += Dropout::OfRow(dropout, row).factorOf(key) == 0 ? '0' : '1';
  }
  return text;
}

constexpr int64_t kSide = 512;

/// 1 for pairs that are kept and 0 for others, of kSide queries and keys.
std::vector<double> matrixOf(const Dropout &dropout, int64_t batch,
                             int64_t head) {
  std::vector<double> matrix;
  for (int64_t i = 0; i < kSide; ++i) {
    Dropout::OfRow row(dropout, {batch, head, i});
    for (int64_t j = 0; j < kSide; ++j) {
      matrix.push_back(row.factorOf(j) == 0 ? 0 : 1);
    }
  }
  return matrix;
}

/// The correlation of elements with those `shift` later in the other matrix, in
/// units of the standard deviation that independent elements have.
double correlation(const std::vector<double> &a, const std::vector<double> &b,
                   double mean, size_t shift) {
  double sum = 0;
  size_t count = a.size() - shift;
  for (size_t n = 0; n < count; ++n) {
    sum += (a[n] - mean) * (b[n + shift] - mean);
  }
  return sum / (mean * (1 - mean)) / std::sqrt(double(count));
}

// Computed by another program, from the definition.
TEST(Dropout, keepsThePairsOfItsDefinition) {
  Dropout dropout(0.5, kState);
  std::vector<int64_t> keys;
  for (int64_t j = 0; j < 16; ++j) {
    keys.push_back(j);
  }
  keys.push_back(1000);
  keys.push_back(1008);
  EXPECT_EQ(pairsOf(dropout, {0, 0, 0}, keys), "110100011110111110");
  EXPECT_EQ(pairsOf(dropout, {0, 0, 1}, keys), "101001111100110100");
  EXPECT_EQ(pairsOf(dropout, {0, 0, 8}, keys), "110100001010001000");
  EXPECT_EQ(pairsOf(dropout, {0, 0, 777}, keys), "010110010111001011");
  EXPECT_EQ(pairsOf(dropout, {2, 5, 0}, keys), "110011001000010010");
  EXPECT_EQ(pairsOf(dropout, {2, 5, 777}, keys), "010010111100111100");
}

TEST(Dropout, keepsAllOrNoneAtTheEnds) {
  Dropout none(0, kState), all(1, kState);
  for (int64_t j = 0; j < 1000; ++j) {
    EXPECT_EQ(Dropout::OfRow(none, {0, 0, 3}).factorOf(j), 1);
    EXPECT_EQ(Dropout::OfRow(all, {0, 0, 3}).factorOf(j), 0);
    EXPECT_EQ(Dropout::OfRow(Dropout(), {0, 0, 3}).factorOf(j), 1);
  }
}

// Within five standard deviations, for each rate.
TEST(Dropout, keepsTheShareOfItsRate) {
  for (double rate : {0.001, 0.1, 0.25, 0.5, 0.9, 0.999}) {
    Dropout dropout(rate, kState);
    double kept = 0, weights = 0;
    for (int64_t i = 0; i < kSide; ++i) {
      Dropout::OfRow row(dropout, {1, 3, i});
      for (int64_t j = 0; j < kSide; ++j) {
        weights += row.factorOf(j);
        kept += row.factorOf(j) != 0;
      }
    }
    double count = double(kSide * kSide);
    double deviation = std::sqrt(rate * (1 - rate) / count);
    EXPECT_NEAR(kept / count, 1 - rate, 5 * deviation + 0x1p-16) << rate;
    EXPECT_NEAR(weights / count, 1, (5 * deviation + 0x1p-16) / (1 - rate))
        << rate;
  }
}

TEST(Dropout, keepsPairsThatHaveNothingToDoWithEachOther) {
  for (double rate : {0.1, 0.5}) {
    Dropout dropout(rate, kState);
    double mean = 1 - rate;
    std::vector<double> own = matrixOf(dropout, 0, 0);
    // Keys and queries beside each other, of one number of 64 bits, and others.
    for (size_t shift : {1, 2, 7, 8, 16, 64}) {
      EXPECT_LT(std::fabs(correlation(own, own, mean, shift)), 5) << shift;
      EXPECT_LT(std::fabs(correlation(own, own, mean, shift * kSide)), 5)
          << shift;
    }
    EXPECT_LT(std::fabs(correlation(own, own, mean, 8 * kSide + 8)), 5);
    std::vector<std::vector<double>> others = {
        matrixOf(dropout, 0, 1), matrixOf(dropout, 1, 0),
        matrixOf(Dropout(rate, {kState[0] + 1, kState[1]}), 0, 0),
        matrixOf(Dropout(rate, {kState[0], kState[1] + 1}), 0, 0)};
    for (const std::vector<double> &other : others) {
      EXPECT_LT(std::fabs(correlation(own, other, mean, 0)), 5);
      EXPECT_LT(std::fabs(correlation(own, other, mean, 8)), 5);
      EXPECT_LT(std::fabs(correlation(own, other, mean, 8 * kSide)), 5);
    }
  }
}

// The variance of the sums of rows and of columns is that of independent pairs.
TEST(Dropout, spreadsOverRowsAndColumns) {
  std::vector<double> matrix = matrixOf(Dropout(0.25, kState), 0, 2);
  for (bool ofRows : {true, false}) {
    double squares = 0;
    for (int64_t line = 0; line < kSide; ++line) {
      double sum = 0;
      for (int64_t n = 0; n < kSide; ++n) {
        sum += matrix[size_t(ofRows ? line * kSide + n : n * kSide + line)];
      }
      squares += (sum - 0.75 * kSide) * (sum - 0.75 * kSide);
    }
    double expected = 0.75 * 0.25 * double(kSide);
    EXPECT_NEAR(squares / double(kSide) / expected, 1,
                5 * std::sqrt(2.0 / double(kSide)));
  }
}

} // namespace
