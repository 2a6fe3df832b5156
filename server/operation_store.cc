#include "server/operation_store.h"

#include <sqlite3.h>

#include <ctime>

#include "compiler/api/action.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;

constexpr int64_t kVersion = 1;
constexpr int kBusyMilliseconds = 5000;
// Rows in order of their making: `row` never comes twice.
constexpr char kTables[] =
    "CREATE TABLE operations("
    " row INTEGER PRIMARY KEY AUTOINCREMENT, instance TEXT NOT NULL,"
    " action TEXT NOT NULL, done INTEGER NOT NULL, changed INTEGER NOT NULL,"
    " record BLOB NOT NULL, UNIQUE(instance, action));"
    "CREATE INDEX operations_by_state ON operations(done, changed);"
    "CREATE TABLE requests("
    " instance TEXT NOT NULL, client TEXT NOT NULL, id TEXT NOT NULL,"
    " content TEXT NOT NULL, action TEXT NOT NULL, made INTEGER NOT NULL,"
    " PRIMARY KEY(instance, client, id)) WITHOUT ROWID;"
    "CREATE INDEX requests_by_time ON requests(made);";

absl::Status DatabaseStatus(sqlite3* database, const char* what) {
  std::string message = std::string(what) + ": " + sqlite3_errmsg(database);
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace

// One statement, used under the lock.
class OperationStore::Statement {
 public:
  Statement(sqlite3* database, const char* sql) : database_(database) {
    sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(),
                      static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& Bind(int64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, number);
    return *this;
  }
  Statement& BindBytes(const std::string& bytes) {
    sqlite3_bind_blob(statement_, ++bound_, bytes.data(),
                      static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
    return *this;
  }
  // Whether there is another row.
  absl::StatusOr<bool> Step() {
    int code = statement_ != nullptr ? sqlite3_step(statement_) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return DatabaseStatus(database_, "operations");
  }
  absl::Status Finish() {
    absl::StatusOr<bool> row = Step();
    return row.status();
  }
  int64_t Number(int column) const {
    return sqlite3_column_int64(statement_, column);
  }
  std::string Text(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    int size = sqlite3_column_bytes(statement_, column);
    return size == 0 ? std::string()
                     : std::string(static_cast<const char*>(bytes),
                                   static_cast<size_t>(size));
  }
  absl::StatusOr<v1::OperationRecord> Record(int column) const {
    v1::OperationRecord record;
    if (record.ParseFromString(Text(column))) return record;
    return absl::DataLossError("operations: a record cannot be read");
  }

 private:
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

absl::StatusOr<std::unique_ptr<OperationStore>> OperationStore::Open(
    const std::string& path) {
  sqlite3* database = nullptr;
  int code = sqlite3_open_v2(
      path.c_str(), &database,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
      nullptr);
  std::unique_ptr<OperationStore> store(new OperationStore(database));
  if (code != SQLITE_OK) return DatabaseStatus(database, path.c_str());
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  absl::Status status = store->MakeTables();
  if (!status.ok()) return status;
  return store;
}

OperationStore::~OperationStore() { sqlite3_close(database_); }

absl::Status OperationStore::Run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) {
    return absl::OkStatus();
  }
  return DatabaseStatus(database_, "operations");
}

absl::Status OperationStore::MakeTables() {
  absl::Status status =
      Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
  if (!status.ok()) return status;
  int64_t version = 0;
  {
    Statement query(database_, "PRAGMA user_version");
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    version = query.Number(0);
  }
  if (version == kVersion) return absl::OkStatus();
  if (version != 0) {
    return absl::FailedPreconditionError(
        "the database of operations has version " + std::to_string(version) +
        ", this server writes " + std::to_string(kVersion));
  }
  std::string make = std::string("BEGIN IMMEDIATE;") + kTables +
                     "PRAGMA user_version=" + std::to_string(kVersion) +
                     ";COMMIT;";
  return Run(make.c_str());
}

absl::Status OperationStore::Put(const v1::OperationRecord& record) {
  bool done = record.result_case() != v1::OperationRecord::RESULT_NOT_SET;
  std::lock_guard lock(mutex_);
  Statement insert(
      database_,
      "INSERT INTO operations(instance, action, done, changed, record)"
      " VALUES(?, ?, ?, ?, ?) ON CONFLICT(instance, action) DO UPDATE SET"
      " done=excluded.done, changed=excluded.changed, record=excluded.record");
  return insert.Bind(record.instance_name())
      .Bind(record.action_hash())
      .Bind(done ? 1 : 0)
      .Bind(static_cast<int64_t>(std::time(nullptr)))
      .BindBytes(SerializeDeterministic(record))
      .Finish();
}

absl::StatusOr<v1::OperationRecord> OperationStore::Get(
    const std::string& instance, const std::string& action_hash) const {
  std::lock_guard lock(mutex_);
  Statement query(
      database_, "SELECT record FROM operations WHERE instance=? AND action=?");
  absl::StatusOr<bool> row = query.Bind(instance).Bind(action_hash).Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError("no such operation");
  return query.Record(0);
}

absl::Status OperationStore::Delete(const std::string& instance,
                                    const std::string& action_hash) {
  std::lock_guard lock(mutex_);
  Statement remove(database_,
                   "DELETE FROM operations WHERE instance=? AND action=?");
  return remove.Bind(instance).Bind(action_hash).Finish();
}

absl::StatusOr<OperationStore::Page> OperationStore::List(
    const std::string& instance, std::optional<bool> done, int64_t limit,
    int64_t before) const {
  std::lock_guard lock(mutex_);
  Statement query(database_,
                  "SELECT row, record FROM operations WHERE instance=?"
                  " AND (?<0 OR done=?) AND (?=0 OR row<?)"
                  " ORDER BY row DESC LIMIT ?");
  int64_t state = done ? (*done ? 1 : 0) : -1;
  query.Bind(instance).Bind(state).Bind(state).Bind(before).Bind(before).Bind(
      limit + 1);
  Page page;
  int64_t last = 0;
  for (;;) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return page;
    if (static_cast<int64_t>(page.records.size()) == limit) {
      page.next = last;
      return page;
    }
    absl::StatusOr<v1::OperationRecord> record = query.Record(1);
    if (!record.ok()) return record.status();
    last = query.Number(0);
    page.records.push_back(std::move(*record));
  }
}

absl::StatusOr<std::vector<v1::OperationRecord>> OperationStore::Unfinished()
    const {
  std::lock_guard lock(mutex_);
  Statement query(database_,
                  "SELECT record FROM operations WHERE done=0 ORDER BY row");
  std::vector<v1::OperationRecord> records;
  for (;;) {
    absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return records;
    absl::StatusOr<v1::OperationRecord> record = query.Record(0);
    if (!record.ok()) return record.status();
    records.push_back(std::move(*record));
  }
}

absl::StatusOr<OperationStore::Bound> OperationStore::Bind(
    const std::string& instance, const std::string& client,
    const std::string& request_id, const std::string& content_hash,
    const std::string& action_hash) {
  std::lock_guard lock(mutex_);
  Statement insert(
      database_,
      "INSERT INTO requests(instance, client, id, content, action, made)"
      " VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  absl::Status status = insert.Bind(instance)
                            .Bind(client)
                            .Bind(request_id)
                            .Bind(content_hash)
                            .Bind(action_hash)
                            .Bind(static_cast<int64_t>(std::time(nullptr)))
                            .Finish();
  if (!status.ok()) return status;
  if (sqlite3_changes(database_) > 0) {
    return Bound{content_hash, action_hash, true};
  }
  Statement query(database_,
                  "SELECT content, action FROM requests"
                  " WHERE instance=? AND client=? AND id=?");
  absl::StatusOr<bool> row =
      query.Bind(instance).Bind(client).Bind(request_id).Step();
  if (!row.ok()) return row.status();
  return Bound{query.Text(0), query.Text(1), false};
}

absl::StatusOr<int64_t> OperationStore::Sweep(int64_t seconds, int64_t limit) {
  std::lock_guard lock(mutex_);
  Statement old(database_, "DELETE FROM operations WHERE done=1 AND changed<?");
  absl::Status status = old.Bind(seconds).Finish();
  if (!status.ok()) return status;
  int64_t gone = sqlite3_changes(database_);
  Statement many(database_,
                 "DELETE FROM operations WHERE row IN (SELECT row FROM"
                 " operations WHERE done=1 ORDER BY row DESC"
                 " LIMIT -1 OFFSET ?)");
  status = many.Bind(limit).Finish();
  if (!status.ok()) return status;
  gone += sqlite3_changes(database_);
  Statement requests(database_, "DELETE FROM requests WHERE made<?");
  status = requests.Bind(seconds).Finish();
  if (!status.ok()) return status;
  return gone;
}

}  // namespace fold
