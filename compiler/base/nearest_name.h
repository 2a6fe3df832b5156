// Suggestions for a name that was mistyped.
#ifndef FOLD_COMPILER_BASE_NEAREST_NAME_H_
#define FOLD_COMPILER_BASE_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace fold {

// The candidate with the fewest edits from `name`, the first of equals; empty
// if all are further than a third of the name's length (at least two edits).
std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates);

// "; did you mean 'X'?", or nothing if no candidate is near.
std::string DidYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

}  // namespace fold

#endif  // FOLD_COMPILER_BASE_NEAREST_NAME_H_
