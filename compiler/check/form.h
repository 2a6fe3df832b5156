// The integer formulas of docs/artifact_format.md, evaluated from the
// artifact's bytes with every overflow noticed, and their comparison with an
// ideal step function.
#ifndef COMPILER_CHECK_FORM_H_
#define COMPILER_CHECK_FORM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compiler/check/chain.h"
#include "runtime/format/reader.h"

namespace fold::check {

// A Requant table. Empty results: the formula's limits are not kept or
// something overflows.
class Form {
 public:
  explicit Form(const format::Requant* requant) : requant_(requant) {}

  // True for "the accumulator itself".
  bool raw() const {
    return requant_ == nullptr || requant_->form() == format::RequantForm::NONE;
  }
  std::optional<int64_t> Code(int64_t accumulator, int64_t channel) const;
  // A reason why the table is not usable for any accumulator.
  std::optional<std::string> Fault() const;

 private:
  std::optional<int64_t> Threshold(int64_t accumulator, int64_t channel) const;
  const format::Requant* requant_;
};

// Add2Parameters on two codes.
std::optional<int64_t> PairCode(const format::Add2Parameters& parameters,
                                int64_t a, int64_t b);

// Where a function differs from the ideal.
struct Mismatch {
  int64_t argument = 0;
  int64_t expected = 0;
  std::optional<int64_t> got;  // empty: out of the formula's limits
};
std::string Describe(const Mismatch& mismatch);

// Compares at both ends of every piece: complete for a function that is
// monotone over the whole range, as every form is.
std::optional<Mismatch> CompareMonotone(
    const StepFunction& ideal,
    const std::function<std::optional<int64_t>(int64_t)>& function);
// Compares everywhere: for tables.
std::optional<Mismatch> CompareEverywhere(
    const StepFunction& ideal,
    const std::function<std::optional<int64_t>(int64_t)>& function);

}  // namespace fold::check

#endif  // COMPILER_CHECK_FORM_H_
