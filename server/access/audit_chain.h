// The form of an audit file: a JSON object a line, each with the SHA-256 of the
// line before it, so that no line can be changed, taken out or put in without a
// break that VerifyAuditFile finds. Lines cut off at the end, or a whole file
// written anew, break nothing inside the file: compare the head with one that
// was kept elsewhere (foldd logs it when it starts and ends).
#ifndef FOLD_SERVER_ACCESS_AUDIT_CHAIN_H_
#define FOLD_SERVER_ACCESS_AUDIT_CHAIN_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace fold {

struct AuditRecord {
  std::chrono::system_clock::time_point time;
  std::string principal;  // "" if nobody could be identified
  std::string peer;       // its address
  std::string method;     // e.g. "foldd.v1.Compiler/Compile"
  std::string instance;
  std::string action_digest;  // "" if there is none
  std::string decision;       // "allowed" or "refused"
  std::string reason;         // of a refusal: a row of the error table
};

// Where a chain stands.
struct AuditHead {
  int64_t lines = 0;
  std::string hash = std::string(64, '0');  // of the last line
};

// A file's first line: what it follows, "" for the first of all.
struct AuditStart {
  std::chrono::system_clock::time_point time;
  std::string follows;       // name of the file before
  std::string follows_hash;  // head of what could be read of it
  std::string why;           // there is another file
};

// The next line of a chain, with its newline; moves `head` on to it. `lost` is
// how many records before it could not be written.
std::string AuditStartLine(const AuditStart& start, AuditHead* head);
std::string AuditRecordLine(const AuditRecord& record, int64_t lost,
                            AuditHead* head);

struct AuditCheck {
  AuditHead head;     // of the lines that are good
  std::string fault;  // "" or "line 7: does not follow line 6"
};

AuditCheck VerifyAuditFile(const std::string& path);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_AUDIT_CHAIN_H_
