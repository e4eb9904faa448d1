// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops that score and mask regions may hold: an op is a record. From these
// records come the list that the verifier reads, derivatives, weights and expansions
// (dialect/lib/ScoreOps.cpp), what `attn-run --check` computes
// (tools/attn-run/region_ops.cpp), the functions of the Python package, the
// page docs/score-ops.md, and the cases of test/Tools/regions.py and
// test/unit/codegen/score_ops_test.cpp.
//
// C++ in a record has `a`, `b` and `c` for the op's operands and `y` for its
// result. In `expansion` they are scalars of a kernel (dialect/lib/Scalar.h), in
// `derivatives` such scalars or numbers of the host, elsewhere numbers.
#ifndef ATTN_DIALECT_SCOREOPS_TD
#define ATTN_DIALECT_SCOREOPS_TD

include "llvm/TableGen/SearchableTable.td"

/// How far the f32 result of a kernel may be from the value `y`.
class Attn_Error<string bound, string text> {
  string cpp = bound;
  string meaning = text;
}
def Attn_Rounding : Attn_Error<"", "">;
class Attn_Relative<int digits>
    : Attn_Error<"0x1p-" # digits # " * y", "2^-" # digits # " of the result">;
class Attn_Absolute<int digits> : Attn_Error<"0x1p-" # digits, "2^-" # digits>;
// lg2.approx has this error near 1. e^a rounds the argument of ex2.
def Attn_OfLog : Attn_Error<"0x1p-22 * std::fmax(1, std::fabs(y))",
                            "2^-22 of the result, or 2^-22 if that is more">;
def Attn_OfExp : Attn_Error<"y == 0 ? 0 : (0x1p-22 + 0x1p-23 * std::fabs(a)) * y",
                            "2^-22 + abs(a) 2^-23 of the result">;

/// An op that regions may hold.
class Attn_ScoreOp<string opDialect, string opName, string cppName,
                   string text> {
  string name = opDialect # "." # opName;
  string meaning = text;
  // By each operand. An integer or a truth value has no derivative, and there is
  // none by it.
  list<string> derivatives = [];
  // The body of a C++ function of `a`, if kernels compute the op by other ops. An
  // op that needs integers or flags has a pattern in codegen/emit/MathToNVVM.cpp.
  string expansion = "";
  bit f32Only = 0;
  // The time that the assembler needs for a region of such ops, divided by the
  // time for additions. It decides the rung of the ladder.
  bits<32> weight = 1;
  bits<32> weightByConstant = weight;

  string attach = "attachModel<" # opDialect # "::" # cppName # ">";
  string slopes = "{" # !interleave(!foreach(d, derivatives, !if(!empty(d), "nullptr",
      "[](Scalar a, Scalar b, Scalar c, Scalar y) -> Scalar { return " # d # "; }")), ", ") # "}";
  string numberSlopesOf = "{" # !interleave(!foreach(d, derivatives,
      "[]([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c, "
      "[[maybe_unused]] double y) -> double { return " # d # "; }"), ", ") # "}";
  string expand = !if(!empty(expansion), "nullptr", "[](Scalar a) -> Scalar {" # expansion # "}");
}

/// A word of the programs of regions (docs/launch-plan.md): a function of floats
/// whose result has their type.
class Attn_FloatWord<string programWord, int arity, string cpp> {
  string word = programWord;
  bits<32> operands = arity;
  Attn_Error error = Attn_Rounding;
  // The derivatives by each operand, of numbers of the host.
  string numberSlopes = "{}";

  string value = "[]([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c)"
                 " -> double { return " # cpp # "; }";
  string errorBound = !if(!empty(error.cpp), "nullptr",
      "[]([[maybe_unused]] double a, [[maybe_unused]] double y) -> double { return " # error.cpp # "; }");
}

/// Any other word, and a C++ expression that makes attn-run's op `name`. `I` and
/// `U` are the integers of 64 bits that hold its operands.
class Attn_OtherWord<string programWord, string cpp> {
  string word = programWord;
  string make = "[](const char *name) { return " # cpp # "; }";
}

class Attn_FloatOp<string opDialect, string opName, string cppName, int arity,
                   string text, string cpp>
    : Attn_ScoreOp<opDialect, opName, cppName, text>,
      Attn_FloatWord<opName, arity, cpp> {
  let numberSlopes = numberSlopesOf;
}

/// A function of one f32. Python has a function of the op's name.
class Attn_Function<string opName, string cppName, int seconds, string text,
                    string cpp>
    : Attn_FloatOp<"math", opName, cppName, 1, text, cpp> {
  let f32Only = 1;
  let weight = seconds;
}

/// A function of two integers whose result has their type and wraps around.
class Attn_IntOp<string opName, string cppName, string text, string cpp>
    : Attn_ScoreOp<"arith", opName, cppName, text>,
      Attn_OtherWord<opName, "integers(name, [](I a, I b, [[maybe_unused]] unsigned bits) { return " # cpp # "; })">;
class Attn_UnsignedOp<string opName, string cppName, string text, string cpp>
    : Attn_ScoreOp<"arith", opName, cppName, text>,
      Attn_OtherWord<opName, "unsignedIntegers(name, [](U a, U b, [[maybe_unused]] unsigned bits) { return " # cpp # "; })">;

class Attn_Conversion<string opName, string cppName, string text,
                      string signature, string fold>
    : Attn_ScoreOp<"arith", opName, cppName, text>,
      Attn_OtherWord<opName, "RegionOp{name, Signature::" # signature # ", 1, " # fold # "}">;

// Functions of a float.

def Attn_Exp : Attn_Function<"exp", "ExpOp", 5, "e^a", "std::exp(a)"> {
  let derivatives = ["y"];
  let error = Attn_OfExp;
}
def Attn_Exp2 : Attn_Function<"exp2", "Exp2Op", 5, "2^a", "std::exp2(a)"> {
  let derivatives = ["y * ln2"];
  let error = Attn_Relative<22>;
}
def Attn_Log : Attn_Function<"log", "LogOp", 5, "the natural logarithm", "std::log(a)"> {
  let derivatives = ["1.0 / a"];
  let error = Attn_OfLog;
}
def Attn_Log2 : Attn_Function<"log2", "Log2Op", 5, "the logarithm to base 2", "std::log2(a)"> {
  let derivatives = ["1.0 / (a * ln2)"];
  let error = Attn_OfLog;
}
def Attn_Log1p : Attn_Function<"log1p", "Log1pOp", 45, "log(1 + a)", "std::log1p(a)"> {
  let derivatives = ["1.0 / (1.0 + a)"];
  // Near 0 the sum loses digits. There the function is 2 artanh s, whose
  // polynomial in s^2 is within a relative 2^-26 for |s| < 1/3.
  let expansion = [{
    Scalar sum = 1.0 + a;
    Scalar s = a / (2.0 + a);
    Scalar small = s * polynomial(s * s, {2.0, 0.666663229, 0.400245965, 0.279651582, 0.281577796});
    Scalar isSmall = abs(a - 0.25) < 0.75;
    Scalar large = log(sum);
    return select(isSmall, small, large);
  }];
  let error = Attn_Relative<21>;
}
def Attn_Sqrt : Attn_Function<"sqrt", "SqrtOp", 5, "the square root", "std::sqrt(a)"> {
  let derivatives = ["0.5 / y"];
  let error = Attn_Relative<22>;
  let f32Only = 0;
}
def Attn_Rsqrt : Attn_Function<"rsqrt", "RsqrtOp", 5, "1 / sqrt(a)", "1 / std::sqrt(a)"> {
  let derivatives = ["-0.5 * (y / a)"];
  let error = Attn_Relative<22>;
}
def Attn_Sin : Attn_Function<"sin", "SinOp", 100, "the sine of an angle in radians", "std::sin(a)"> {
  let derivatives = ["cos(a)"];
  let error = Attn_Absolute<22>;
}
def Attn_Cos : Attn_Function<"cos", "CosOp", 100, "the cosine of an angle in radians", "std::cos(a)"> {
  let derivatives = ["-sin(a)"];
  let error = Attn_Absolute<22>;
}
def Attn_Tanh : Attn_Function<"tanh", "TanhOp", 25, "the hyperbolic tangent", "std::tanh(a)"> {
  let derivatives = ["1.0 - y * y"];
  let error = Attn_Relative<18>;
}
// With fastmath<afn> it is one instruction.
def Attn_TanhApprox : Attn_FloatWord<"tanh.afn", 1, "std::tanh(a)"> {
  let error = Attn_Relative<11>;
  let numberSlopes = Attn_Tanh.numberSlopes;
}
def Attn_Erf : Attn_Function<"erf", "ErfOp", 100, "the error function", "std::erf(a)"> {
  let derivatives = ["2 * inv_sqrtpi * exp(-(a * a))"];
  // The polynomial in a^2 for erf a / a is within a relative 2^-24 for |a| < 1.
  // The one for log2(1 - erf a) brings erf a within 2^-25 for a in [1, 4]. Both
  // are fitted for the smallest error. erf 4 rounds to 1. MLIR's own expansion
  // selects among the coefficients of three quotients, for which the assembler
  // needs minutes instead of seconds.
  let expansion = [{
    Scalar square = a * a;
    Scalar small = a * polynomial(square, {1.12837912, -0.376123262, 0.112801801,
                                           -0.0267113113, 0.00491755144, -0.000563142225});
    Scalar magnitude = abs(a);
    Scalar isSmall = magnitude < 1.0;
    Scalar bounded = minimum(magnitude, 4.0);
    Scalar tail = exp2(polynomial(bounded, {-0.00385447745, -1.61212286, -0.944228092,
                                            -0.12787199, 0.0213202883, -0.00165970397}));
    Scalar large = copysign(1.0 - tail, a);
    return select(isSmall, small, large);
  }];
  let error = Attn_Relative<22>;
}

// Arithmetic on floats.

def Attn_AddF : Attn_FloatOp<"arith", "addf", "AddFOp", 2, "a + b", "a + b"> {
  let derivatives = ["1.0", "1.0"];
}
def Attn_SubF : Attn_FloatOp<"arith", "subf", "SubFOp", 2, "a - b", "a - b"> {
  let derivatives = ["1.0", "-1.0"];
}
def Attn_MulF : Attn_FloatOp<"arith", "mulf", "MulFOp", 2, "a * b", "a * b"> {
  let derivatives = ["b", "a"];
}
def Attn_DivF : Attn_FloatOp<"arith", "divf", "DivFOp", 2, "a / b", "a / b"> {
  let derivatives = ["1.0 / b", "-(y / b)"];
  let error = Attn_Relative<22>;
  let weight = 5;
}
def Attn_Fma : Attn_FloatOp<"math", "fma", "FmaOp", 3, "a * b + c, rounded once", "std::fma(a, b, c)"> {
  let derivatives = ["b", "a", "1.0"];
}
def Attn_NegF : Attn_FloatOp<"arith", "negf", "NegFOp", 1, "-a", "-a"> {
  let derivatives = ["-1.0"];
}
def Attn_AbsF : Attn_FloatOp<"math", "absf", "AbsFOp", 1, "the magnitude", "std::fabs(a)"> {
  let derivatives = ["select(a > 0.0, 1.0, select(a < 0.0, -1.0, 0.0))"];
}

// Ties are torch's: each operand of torch.maximum gets half of the gradient, and
// the first one of torch.fmax gets all of it, unless it is a NaN.
class Attn_Extremum<string opName, string cppName, string text, string cpp, string before>
    : Attn_FloatOp<"arith", opName, cppName, 2, text, cpp> {
  let derivatives = ["select(a == b, 0.5, indicator(a " # before # " b))",
                     "select(a == b, 0.5, indicator(b " # before # " a))"];
}
class Attn_ExtremeNumber<string opName, string cppName, string text, string cpp, string before>
    : Attn_FloatOp<"arith", opName, cppName, 2, text, cpp> {
  defvar isFirst = "select(b != b, 1.0, indicator(a " # before # "= b))";
  let derivatives = [isFirst, "1.0 - " # isFirst];
}
defvar isNaN = "std::isnan(a) || std::isnan(b)";
def Attn_MaximumF : Attn_Extremum<"maximumf", "MaximumFOp", "the larger one, or a NaN", isNaN # " ? NAN : std::fmax(a, b)", ">">;
def Attn_MinimumF : Attn_Extremum<"minimumf", "MinimumFOp", "the smaller one, or a NaN", isNaN # " ? NAN : std::fmin(a, b)", "<">;
def Attn_MaxNumF : Attn_ExtremeNumber<"maxnumf", "MaxNumFOp", "the larger number", "std::fmax(a, b)", ">">;
def Attn_MinNumF : Attn_ExtremeNumber<"minnumf", "MinNumFOp", "the smaller number", "std::fmin(a, b)", "<">;

// Arithmetic on integers.

def Attn_AddI : Attn_IntOp<"addi", "AddIOp", "a + b", "U(a) + U(b)">;
def Attn_SubI : Attn_IntOp<"subi", "SubIOp", "a - b", "U(a) - U(b)">;
def Attn_MulI : Attn_IntOp<"muli", "MulIOp", "a * b", "U(a) * U(b)">;
// Unless by a constant, division is a loop of instructions.
let weight = 200, weightByConstant = 5 in {
def Attn_DivSI : Attn_IntOp<"divsi", "DivSIOp", "a / b toward zero; by 0, a",
                            "b == 0 ? U(a) : b == -1 ? U(0) - U(a) : U(a / b)">;
def Attn_RemSI : Attn_IntOp<"remsi", "RemSIOp", "a - b * (a / b); by 0, 0", "b == 0 || b == -1 ? 0 : a % b">;
def Attn_DivUI : Attn_UnsignedOp<"divui", "DivUIOp", "a / b, unsigned; by 0, a", "b == 0 ? a : a / b">;
def Attn_RemUI : Attn_UnsignedOp<"remui", "RemUIOp", "a - b * (a / b), unsigned; by 0, 0", "b == 0 ? 0 : a % b">;
}
def Attn_AndI : Attn_IntOp<"andi", "AndIOp", "the bits of both", "a & b">;
def Attn_OrI : Attn_IntOp<"ori", "OrIOp", "the bits of either", "a | b">;
def Attn_XOrI : Attn_IntOp<"xori", "XOrIOp", "the bits of one alone", "a ^ b">;
def Attn_MaxSI : Attn_IntOp<"maxsi", "MaxSIOp", "the larger one", "std::max(a, b)">;
def Attn_MinSI : Attn_IntOp<"minsi", "MinSIOp", "the smaller one", "std::min(a, b)">;
def Attn_MaxUI : Attn_UnsignedOp<"maxui", "MaxUIOp", "the larger one, unsigned", "std::max(a, b)">;
def Attn_MinUI : Attn_UnsignedOp<"minui", "MinUIOp", "the smaller one, unsigned", "std::min(a, b)">;
// A shift by the width or more leaves only the sign.
def Attn_ShLI : Attn_UnsignedOp<"shli", "ShLIOp", "a << b", "b < bits ? a << b : 0">;
def Attn_ShRSI : Attn_IntOp<"shrsi", "ShRSIOp", "a >> b, of the sign's bits",
                            "a >> std::min<U>(unsignedOf(bits, b), bits - 1)">;
def Attn_ShRUI : Attn_UnsignedOp<"shrui", "ShRUIOp", "a >> b, of zeros", "b < bits ? a >> b : 0">;

// Comparisons. Each predicate is a word.

def Attn_CmpI : Attn_ScoreOp<"arith", "cmpi", "CmpIOp", "whether a relation of integers holds">;
def Attn_CmpF : Attn_ScoreOp<"arith", "cmpf", "CmpFOp", "whether a relation of floats holds">;
class Attn_Compare<string predicate, string kind, string relation>
    : Attn_OtherWord<predicate, kind # "(name, [](auto a, auto b) { return " # relation # "; })">;
foreach p = [["eq", "=="], ["ne", "!="], ["slt", "<"], ["sle", "<="], ["sgt", ">"], ["sge", ">="]] in
  def : Attn_Compare<"cmpi." # p[0], "compare", "a " # p[1] # " b">;
foreach p = [["ult", "<"], ["ule", "<="], ["ugt", ">"], ["uge", ">="]] in
  def : Attn_Compare<"cmpi." # p[0], "compareUnsigned", "a " # p[1] # " b">;
// A NaN makes an ordered one false, an unordered one true.
foreach p = [["eq", "=="], ["ne", "!="], ["lt", "<"], ["le", "<="], ["gt", ">"], ["ge", ">="]] in {
  def : Attn_Compare<"cmpf.o" # p[0], "ordered", "a " # p[1] # " b">;
  def : Attn_Compare<"cmpf.u" # p[0], "unordered", "a " # p[1] # " b">;
}
def : Attn_OtherWord<"cmpf.ord", "ordered(name, [](double, double) { return true; })">;
def : Attn_OtherWord<"cmpf.uno", "unordered(name, [](double, double) { return false; })">;
def : Attn_OtherWord<"cmpf.false", "ordered(name, [](double, double) { return false; })">;
def : Attn_OtherWord<"cmpf.true", "unordered(name, [](double, double) { return true; })">;

// Choices, conversions and captures.

def Attn_Select : Attn_ScoreOp<"arith", "select", "SelectOp", "b where a holds, otherwise c">,
                  Attn_OtherWord<"select", "RegionOp{name, Signature::Select, 3, select}"> {
  let derivatives = ["", "indicator(a)", "1.0 - indicator(a)"];
}
let weight = 0 in {
def Attn_Constant : Attn_ScoreOp<"arith", "constant", "ConstantOp", "a number">;
def Attn_IndexCast : Attn_Conversion<"index_cast", "IndexCastOp", "an integer to 32 bits, or the nearest of them",
                                     "IntToInt", "castToIndex">;
}
def Attn_ExtSI : Attn_Conversion<"extsi", "ExtSIOp", "an integer to more bits", "IntToInt", "extendSigned">;
def Attn_ExtUI : Attn_Conversion<"extui", "ExtUIOp", "an unsigned integer to more bits", "IntToInt", "extendUnsigned">;
def Attn_TruncI : Attn_Conversion<"trunci", "TruncIOp", "the low bits of an integer", "IntToInt", "extendSigned">;
def Attn_SIToFP : Attn_Conversion<"sitofp", "SIToFPOp", "an integer to a float", "IntToFloat", "signedToFloat">;
def Attn_UIToFP : Attn_Conversion<"uitofp", "UIToFPOp", "an unsigned integer to a float", "IntToFloat", "unsignedToFloat">;
def Attn_FPToSI : Attn_Conversion<"fptosi", "FPToSIOp", "a float to an integer, toward zero", "FloatToInt", "floatToSigned">;
def Attn_FPToUI : Attn_Conversion<"fptoui", "FPToUIOp", "a float to an unsigned integer, toward zero", "FloatToInt", "floatToUnsigned">;
// The gradient passes through a rounding.
let derivatives = ["1.0"] in {
def Attn_ExtF : Attn_Conversion<"extf", "ExtFOp", "a float to more bits", "FloatToFloat", "convertFloats">;
def Attn_TruncF : Attn_Conversion<"truncf", "TruncFOp", "a float to fewer bits, rounded", "FloatToFloat", "convertFloats">;
}
def Attn_Extract : Attn_ScoreOp<"tensor", "extract", "ExtractOp", "an element of a captured tensor; beyond its end, 0"> {
  let weight = 60;
}

def ScoreOpTable : GenericTable {
  let FilterClass = "Attn_ScoreOp";
  let CppTypeName = "ScoreOp";
  let Fields = ["name", "attach", "slopes", "expand", "f32Only", "weight", "weightByConstant"];
  string TypeOf_attach = "code";
  string TypeOf_slopes = "code";
  string TypeOf_expand = "code";
}
def FloatWordTable : GenericTable {
  let FilterClass = "Attn_FloatWord";
  let CppTypeName = "FloatWord";
  let Fields = ["word", "operands", "value", "errorBound"];
  string TypeOf_value = "code";
  string TypeOf_errorBound = "code";
}
def FloatSlopesTable : GenericTable {
  let FilterClass = "Attn_FloatWord";
  let CppTypeName = "FloatSlopes";
  let Fields = ["word", "numberSlopes"];
  string TypeOf_numberSlopes = "code";
}
def OtherWordTable : GenericTable {
  let FilterClass = "Attn_OtherWord";
  let CppTypeName = "OtherWord";
  let Fields = ["word", "make"];
  string TypeOf_make = "code";
}

#endif // ATTN_DIALECT_SCOREOPS_TD
