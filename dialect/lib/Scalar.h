// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas on scalars of a kernel, written like formulas on numbers.
#ifndef ATTN_DIALECT_LIB_SCALAR_H
#define ATTN_DIALECT_LIB_SCALAR_H

#include "attn/support/mlir_pch.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// A float or a truth value that ops compute, or a number that becomes a
/// constant where an op uses it.
struct Scalar {
  Scalar(double number) : number(number) {}
  /// `type` is that of the numbers in the formula; `value` may be a truth
  /// value.
  Scalar(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
         mlir::Type type)
      : builder(&builder), value(value), type(type) {}
  Scalar(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : Scalar(builder, value, value.getType()) {}

  mlir::Value in(mlir::ImplicitLocOpBuilder &b, mlir::Type ofNumbers) const {
    return value ? value
                 : mlir::arith::ConstantOp::create(
                       b, b.getFloatAttr(ofNumbers, number));
  }

  mlir::ImplicitLocOpBuilder *builder = nullptr;
  mlir::Value value;
  mlir::Type type;
  double number = 0;
};

/// `Op` of scalars, of which one at least is computed.
template <typename Op> Scalar compute(llvm::ArrayRef<Scalar> operands) {
  const Scalar &known =
      *llvm::find_if(operands, [](const Scalar &each) { return each.builder; });
  mlir::ImplicitLocOpBuilder &b = *known.builder;
  llvm::SmallVector<mlir::Value> values;
  for (const Scalar &operand : operands) {
    values.push_back(operand.in(b, known.type));
  }
  return {b, Op::create(b, mlir::ValueRange(values)), known.type};
}

inline Scalar compare(mlir::arith::CmpFPredicate predicate, Scalar a,
                      Scalar b) {
  const Scalar &known = a.builder ? a : b;
  mlir::ImplicitLocOpBuilder &builder = *known.builder;
  mlir::Value left = a.in(builder, known.type),
              right = b.in(builder, known.type);
  return {builder, mlir::arith::CmpFOp::create(builder, predicate, left, right),
          known.type};
}

inline Scalar operator+(Scalar a, Scalar b) {
  return compute<mlir::arith::AddFOp>({a, b});
}
inline Scalar operator-(Scalar a, Scalar b) {
  return compute<mlir::arith::SubFOp>({a, b});
}
inline Scalar operator*(Scalar a, Scalar b) {
  return compute<mlir::arith::MulFOp>({a, b});
}
inline Scalar operator/(Scalar a, Scalar b) {
  return compute<mlir::arith::DivFOp>({a, b});
}
inline Scalar operator-(Scalar a) { return compute<mlir::arith::NegFOp>({a}); }

inline Scalar operator<(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::OLT, a, b);
}
inline Scalar operator<=(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::OLE, a, b);
}
inline Scalar operator>(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::OGT, a, b);
}
inline Scalar operator>=(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::OGE, a, b);
}
inline Scalar operator==(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::OEQ, a, b);
}
inline Scalar operator!=(Scalar a, Scalar b) {
  return compare(mlir::arith::CmpFPredicate::UNE, a, b);
}

inline Scalar abs(Scalar a) { return compute<mlir::math::AbsFOp>({a}); }
inline Scalar cos(Scalar a) { return compute<mlir::math::CosOp>({a}); }
inline Scalar exp(Scalar a) { return compute<mlir::math::ExpOp>({a}); }
inline Scalar exp2(Scalar a) { return compute<mlir::math::Exp2Op>({a}); }
inline Scalar log(Scalar a) { return compute<mlir::math::LogOp>({a}); }
inline Scalar sin(Scalar a) { return compute<mlir::math::SinOp>({a}); }

inline Scalar copysign(Scalar a, Scalar sign) {
  return compute<mlir::math::CopySignOp>({a, sign});
}
inline Scalar fma(Scalar a, Scalar b, Scalar c) {
  return compute<mlir::math::FmaOp>({a, b, c});
}
inline Scalar minimum(Scalar a, Scalar b) {
  return compute<mlir::arith::MinimumFOp>({a, b});
}
inline Scalar select(Scalar condition, Scalar a, Scalar b) {
  return compute<mlir::arith::SelectOp>({condition, a, b});
}
inline Scalar indicator(Scalar condition) {
  return select(condition, 1.0, 0.0);
}

/// The polynomial with these coefficients, the constant one first.
inline Scalar polynomial(Scalar x, std::initializer_list<double> coefficients) {
  llvm::ArrayRef<double> numbers(coefficients);
  Scalar sum = numbers.back();
  for (double number : llvm::reverse(numbers.drop_back())) {
    sum = fma(sum, x, number);
  }
  return sum;
}

} // namespace attn

#endif // ATTN_DIALECT_LIB_SCALAR_H
