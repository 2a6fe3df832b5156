// What a hostile compile would try, for the fake compiler: each attempt says
// what came of it, and the tests say what must.
#ifndef FOLD_SERVER_TESTING_ATTEMPTS_H_
#define FOLD_SERVER_TESTING_ATTEMPTS_H_

#include <string>

namespace fold {

// Tries `what` on `argument` (a path, a port …): "done", the name of the error
// that refused it ("EPERM"), or what was seen. "unknown" is no attempt.
std::string Attempt(const std::string& what, const std::string& argument);

}  // namespace fold

#endif  // FOLD_SERVER_TESTING_ATTEMPTS_H_
