// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas on scalars of a kernel, written as formulas on numbers are.
#ifndef ATTN_DIALECT_LIB_SCALAR_H
#define ATTN_DIALECT_LIB_SCALAR_H

#include "attn/support/mlir_pch.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// An f32 or a truth value that ops compute, or a number that becomes a
/// constant where an op uses it.
struct Scalar {
  Scalar(double number) : number(number) {}
  Scalar(mlir::ImplicitLocOpBuilder &builder, mlir::Value value)
      : builder(&builder), value(value) {}

  mlir::Value in(mlir::ImplicitLocOpBuilder &b) const {
    return value
               ? value
               : mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(number));
  }

  mlir::ImplicitLocOpBuilder *builder = nullptr;
  mlir::Value value;
  double number = 0;
};

/// `Op` of scalars, of which one at least is computed.
template <typename Op> Scalar compute(llvm::ArrayRef<Scalar> operands) {
  mlir::ImplicitLocOpBuilder &b =
      *llvm::find_if(operands, [](const Scalar &each) {
         return each.builder;
       })->builder;
  llvm::SmallVector<mlir::Value> values;
  for (const Scalar &operand : operands) {
    values.push_back(operand.in(b));
  }
  return {b, Op::create(b, mlir::ValueRange(values))};
}

inline Scalar compare(mlir::arith::CmpFPredicate predicate, Scalar a,
                      Scalar b) {
  mlir::ImplicitLocOpBuilder &builder = a.builder ? *a.builder : *b.builder;
  mlir::Value left = a.in(builder), right = b.in(builder);
  return {builder,
          mlir::arith::CmpFOp::create(builder, predicate, left, right)};
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
