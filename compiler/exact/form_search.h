// Finds parameters of one requantization form for one channel. What it returns
// has passed Verify.
#ifndef FOLD_COMPILER_EXACT_FORM_SEARCH_H_
#define FOLD_COMPILER_EXACT_FORM_SEARCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/exact/piecewise.h"
#include "compiler/exact/requant_form.h"
#include "compiler/exact/step_function.h"

namespace fold::exact {

struct FormSearchInput {
  const StepFunction* ideal = nullptr;
  // MainPiece of the channel.
  const Piece* main_piece = nullptr;
  // The clamp that the form will apply: low <= every code <= high.
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t zero_point = 0;
};

// Adds the number of candidates that were looked at to *candidates_tried.
std::optional<FormParameters> FindForm(RequantForm form,
                                       const FormSearchInput& input,
                                       int* candidates_tried);

}  // namespace fold::exact

#endif  // FOLD_COMPILER_EXACT_FORM_SEARCH_H_
