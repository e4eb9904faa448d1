// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "random_mask.h"
#include "attn/dialect/LaunchChecks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attn::test;

namespace {

/// Writes the ops of a region, an op a line.
class Writer {
public:
  explicit Writer(unsigned seed) : random(seed) {}

  std::string truth(int depth);
  std::string text;
  std::vector<Capture> captures();

private:
  int pick(int count) { return int(random() % unsigned(count)); }
  const char *one(std::initializer_list<const char *> words) {
    return words.begin()[pick(int(words.size()))];
  }
  std::string op(const llvm::Twine &right) {
    std::string name = "%" + std::to_string(number++);
    text += "          " + name + " = " + right.str() + "\n";
    return name;
  }
  std::string constant(int64_t value, const char *type);
  int64_t number32();
  int64_t operand();
  std::string small(const char *type, bool ofKey);
  std::string comparison(const char *type);
  std::string binary(const char *name, const std::string &a,
                     const std::string &b, const char *type) {
    return op(
        llvm::formatv("arith.{0} {1}, {2} : {3}", name, a, b, type).str());
  }
  std::string element(const char *tensor, const std::string &index,
                      const char *type);
  std::string leaf(const char *type, bool ofKey);
  std::string integer(const char *type, int depth, bool ofKey);
  std::string compare(const std::string &a, const std::string &b,
                      const char *type) {
    return op(llvm::formatv("arith.cmpi {0}, {1}, {2} : {3}",
                            one({"slt", "sle", "sgt", "sge", "slt", "sge", "eq",
                                 "ne", "ult", "uge"}),
                            a, b, type)
                  .str());
  }
  std::string typical();

  std::mt19937 random;
  unsigned number = 0;
};

} // namespace

/// A small number, or one near a limit.
int64_t Writer::number32() {
  switch (pick(13)) {
  case 0:
    return INT32_MAX - pick(3);
  case 3:
    return attn::kItemLimit - pick(3);
  case 1:
    return int64_t(INT32_MIN) + pick(3);
  case 2:
    return (int64_t(1) << pick(31)) - pick(2);
  default:
    return pick(48) - 8;
  }
}

std::string Writer::constant(int64_t value, const char *type) {
  return op(llvm::formatv("arith.constant {0} : {1}", value, type).str());
}

std::string Writer::element(const char *tensor, const std::string &index,
                            const char *type) {
  std::string at = op("arith.index_cast " + index + " : i32 to index");
  return op(
      llvm::formatv("tensor.extract {0}[{1}] : tensor<?x{2}>", tensor, at, type)
          .str());
}

std::string Writer::leaf(const char *type, bool ofKey) {
  bool isWide = type[1] == '6';
  const char *place = one({"%b", "%h", ofKey ? "%j" : "%i", "%i"});
  switch (pick(6)) {
  case 0:
    return constant(number32(), type);
  case 1:
    return isWide ? "%n64" : "%n32";
  case 2:
    return element(isWide ? "%t64" : "%t32", one({"%b", "%h", place}), type);
  default:
    return isWide
               ? op(llvm::formatv("arith.extsi {0} : i32 to i64", place).str())
               : place;
  }
}

/// A small number, also below 0, or one near the count of bits.
int64_t Writer::operand() {
  return pick(4) ? pick(9) : pick(2) ? -pick(9) : 30 + pick(4);
}

/// A remainder, which may be negative.
std::string Writer::small(const char *type, bool ofKey) {
  std::string a =
      binary("subi", leaf(type, ofKey), constant(pick(9), type), type);
  return binary("remsi", a, constant(1 + pick(9), type), type);
}

/// A truth value for a choice between numbers.
std::string Writer::comparison(const char *type) {
  std::string a = leaf(type, pick(2));
  return compare(a, leaf(type, false), type);
}

/// Any arithmetic.
std::string Writer::integer(const char *type, int depth, bool ofKey) {
  if (depth == 0 || pick(4) == 0) {
    return leaf(type, ofKey);
  }
  const char *name =
      one({"addi", "subi", "addi", "subi", "muli", "divsi", "divui", "remsi",
           "remui", "minsi", "maxsi", "minui", "maxui", "andi", "ori", "xori",
           "shli", "shrsi", "shrui"});
  std::string a = integer(type, depth - 1, ofKey);
  std::string b =
      pick(2) ? constant(operand(), type) : integer(type, depth - 1, ofKey);
  switch (pick(8)) {
  case 0:
    return op(llvm::formatv("arith.select {0}, {1}, {2} : {3}",
                            comparison(type), a, b, type)
                  .str());
  case 1:
    return op(llvm::formatv("arith.{0} {1} : i1 to {2}",
                            one({"extui", "extsi"}), comparison(type), type)
                  .str());
  default:
    return binary(name, a, b, type);
  }
}

/// A comparison as people write them, also with the operands exchanged.
std::string Writer::typical() {
  const char *type = one({"i32", "i32", "i64"});
  auto position = [&](const char *name) {
    return type[1] == '6'
               ? op(llvm::formatv("arith.extsi {0} : i32 to i64", name).str())
               : std::string(name);
  };
  std::string i = position("%i"), j = position("%j");
  int64_t size = 1 + pick(20);
  std::string a = j, b = i;
  switch (pick(12)) {
  case 0: // a window
    a = binary("subi", i, j, type);
    b = pick(2) ? constant(number32(), type) : leaf(type, false);
    break;
  case 1: // chunks
    a = binary(one({"divsi", "divui"}), j, constant(size, type), type);
    b = binary("divsi", i, constant(size, type), type);
    break;
  case 2: // shifted chunks of a power of two
    a = binary("shrsi", binary("subi", j, constant(pick(5), type), type),
               constant(pick(4), type), type);
    b = binary("shrsi", i, constant(pick(4), type), type);
    break;
  case 3: // a distance
    a = binary("subi", i, j, type);
    a = binary("maxsi", a, binary("subi", j, i, type), type);
    b = constant(number32(), type);
    break;
  case 4: // a length
    b = leaf(type, false);
    break;
  case 5: // an extremum of bounds
    b = binary(one({"minsi", "maxsi"}), i, leaf(type, false), type);
    break;
  case 7: // an end that falls
    a = binary("addi", i, j, type);
    b = leaf(type, false);
    break;
  case 8: // keys at distances
    a = binary(one({"muli", "remsi", "divsi"}), j, constant(operand(), type),
               type);
    break;
  case 9: // chunks from another key on
    a = binary("divsi", binary("subi", j, constant(pick(9), type), type),
               constant(size, type), type);
    b = pick(2) ? constant(pick(9) - 4, type) : leaf(type, false);
    break;
  case 11: // arithmetic of small numbers, near the ends of its range
    a = small(type, pick(2));
    if (pick(4)) {
      a = binary(one({"ori", "xori", "andi", "muli", "addi", "subi", "shli"}),
                 a, pick(2) ? small(type, false) : constant(operand(), type),
                 type);
    }
    if (pick(2)) {
      a = binary(one({"addi", "subi"}), pick(2) ? i : j, a, type);
    }
    b = constant(pick(24) - 12, type);
    break;
  case 10: // arithmetic near the ends of its range
    a = integer(type, 1 + pick(2), pick(2));
    b = constant(pick(2) ? number32() : operand(), type);
    break;
  case 6: // a guard
    a = pick(2) ? i : integer(type, 1, false);
    b = leaf(type, false);
    break;
  default: // the diagonal, moved
    b = binary("addi", i, constant(number32(), type), type);
  }
  return pick(2) ? compare(a, b, type) : compare(b, a, type);
}

std::string Writer::truth(int depth) {
  if (depth == 0 || pick(5) == 0) {
    switch (pick(10)) {
    case 0:
      return element("%t1", one({"%b", "%h"}), "i1");
    case 1:
      return op(one({"arith.constant true", "arith.constant false"}));
    case 2: {
      const char *type = one({"i32", "i64"});
      std::string a = integer(type, 2, true);
      return compare(a, integer(type, 2, true), type);
    }
    default:
      return typical();
    }
  }
  std::string a = truth(depth - 1);
  switch (pick(7)) {
  case 0: {
    std::string b = op(one({"arith.constant true", "arith.constant true",
                            "arith.constant false"}));
    return binary("xori", a, b, "i1");
  }
  case 1:
    return binary("xori", a, truth(depth - 1), "i1");
  case 2: {
    std::string b = truth(depth - 1), c = truth(depth - 1);
    return op(llvm::formatv("arith.select {0}, {1}, {2} : i1", a, b, c).str());
  }
  case 3:
  case 4:
    return binary("ori", a, truth(depth - 1), "i1");
  default:
    return binary("andi", a, truth(depth - 1), "i1");
  }
}

std::vector<Capture> Writer::captures() {
  std::vector<Capture> all(5);
  all[0] = {number32()};
  all[1] = {pick(4) ? number32() : int64_t(random()) << 32 | number32()};
  for (int n = 0; n < 6; ++n) {
    all[2].push_back(number32());
    all[3].push_back(pick(4)   ? number32()
                     : pick(2) ? INT64_MAX - pick(3)
                               : INT64_MIN + pick(3));
    all[4].push_back(pick(2));
  }
  return all;
}

/// `region` is the name of a region, and `lead` has its arguments before the
/// captures.
static std::string writeFunction(const char *region, const char *lead,
                                 const std::string &body) {
  constexpr const char *tensor = "tensor<?x?x?x64xbf16>",
                       *row = "tensor<?x?x?xf32>";
  return llvm::formatv(
             R"(
func.func @f(%q: {0}, %k: {0}, %v: {0}, %scale: f32, %c0: i32, %c1: i64, %c2: tensor<?xi32>, %c3: tensor<?xi64>,
             %c4: tensor<?xi1>) -> ({0}, {1}) {{
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      captures(%c0, %c1, %c2, %c3, %c4 : i32, i64, tensor<?xi32>, tensor<?xi64>, tensor<?xi1>)
      {2} {{
      ^bb0({3}, %n32: i32, %n64: i64, %t32: tensor<?xi32>, %t64: tensor<?xi64>,
           %t1: tensor<?xi1>):
{4}
      } : ({0}, {0}, {0}) -> ({0}, {1})
  return %o, %lse : {0}, {1}
})",
             tensor, row, region, lead, body)
      .str();
}

std::string attn::test::writeMask(const std::string &ops,
                                  const std::string &result) {
  return writeFunction("mask_region", "%b: i32, %h: i32, %i: i32, %j: i32",
                       ops + "          attn.yield " + result + " : i1");
}

std::string attn::test::writeRowKeys(const std::string &ops,
                                     const std::string &end) {
  return writeFunction("row_keys", "%b: i32, %h: i32, %i: i32",
                       "%first = arith.constant 0 : i32\n" + ops +
                           "\n          attn.yield %first, " + end +
                           " : i32, i32");
}

static unsigned numberIn(const char *variable, unsigned otherwise) {
  const char *text = std::getenv(variable);
  return text ? unsigned(std::atoi(text)) : otherwise;
}

llvm::iota_range<unsigned> attn::test::seedsToTry(unsigned count) {
  unsigned first = numberIn("ATTN_MASK_FIRST_SEED", 0);
  return llvm::seq(first, first + numberIn("ATTN_MASK_SEEDS", count));
}

RandomMask::RandomMask(unsigned seed) {
  Writer writer(seed);
  std::string result = writer.truth(int(seed % 4));
  ir = writeMask(writer.text, result);
  captures = writer.captures();
}
