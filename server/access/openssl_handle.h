// OpenSSL's objects, freed when they go.
#ifndef FOLD_SERVER_ACCESS_OPENSSL_HANDLE_H_
#define FOLD_SERVER_ACCESS_OPENSSL_HANDLE_H_

#include <memory>

namespace fold {

template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

template <typename T, auto Free>
using OpensslHandle = std::unique_ptr<T, OpensslFree<Free>>;

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_OPENSSL_HANDLE_H_
