// How to reach a server, and as whom.
#ifndef FOLD_CLIENT_CONNECTION_H_
#define FOLD_CLIENT_CONNECTION_H_

#include <memory>
#include <string>

#include "grpcpp/channel.h"

namespace fold {

struct ConnectOptions {
  // grpc://HOST:PORT is plaintext, grpcs://HOST:PORT is TLS; HOST:PORT alone is
  // plaintext on loopback and TLS elsewhere.
  std::string address = "127.0.0.1:50051";
  // PEM. Without authorities the system's are trusted.
  std::string ca_file;
  std::string certificate_file, key_file;  // of the client; both or neither
  // A bearer token: in a file, else the text. Never an argument of a command,
  // which every process of the machine can read.
  std::string token_file;
  std::string token;
  // Send the token unencrypted off loopback too.
  bool token_in_plaintext = false;
};

// Makes a channel whose calls all carry the token; connects with the first
// call. Returns what is wrong with the options or the files, or "".
std::string MakeChannel(const ConnectOptions& options,
                        std::shared_ptr<grpc::Channel>* channel);

}  // namespace fold

#endif  // FOLD_CLIENT_CONNECTION_H_
