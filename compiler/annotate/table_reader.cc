#include "compiler/annotate/table_reader.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

#include "compiler/annotate/entry_fields.h"
#include "compiler/annotate/json_document.h"

namespace fold {
namespace {

constexpr size_t kMostFaults = 20;
constexpr int64_t kFewestBits = 2, kMostBits = 32, kMostActivationBits = 16;
constexpr double kSmallestScale = 1e-45, kLargestScale = 3.5e38;  // of float32
// How far min and max may lie from a code, in codes.
constexpr double kGridSlack = 0.25;

// "int" and "float", in the letters of either format.
bool ReadType(const EntryFields& fields, bool* is_float) {
  std::string word = "int";
  if (fields.Has("dtype") && !fields.Text("dtype", &word)) return false;
  word = LowerCase(word);
  if (word != "int" && word != "float" && word != "fp") {
    return fields.Fault("field 'dtype' is '" + Shorten(word) +
                        "'; foldd knows int and float");
  }
  *is_float = word != "int";
  return true;
}

bool CheckBits(const EntryFields& fields, const EncodingEntry& entry) {
  const int64_t most = entry.kind == EncodingEntry::Kind::kActivation
                           ? kMostActivationBits
                           : kMostBits;
  if (entry.is_float || (entry.bits >= kFewestBits && entry.bits <= most)) {
    return true;
  }
  return fields.Fault("has " + std::to_string(entry.bits) +
                          " bits; foldd reads " + std::to_string(kFewestBits) +
                          " to " + std::to_string(most) + " here",
                      DiagnosticCode::unsupported_type);
}

// What the codes 0 … 2^bits - 1 of a format mean: real = (code + offset) *
// scale. `low` and `high` are the codes that can come.
struct Grid {
  std::vector<double> scales;
  std::vector<int64_t> offsets;
  int64_t low = 0, high = 0;
};

bool CheckGrid(const EntryFields& fields, const Grid& grid, int64_t bits) {
  const int64_t top = (int64_t{1} << bits) - 1;
  for (double scale : grid.scales) {
    if (scale >= kSmallestScale && scale <= kLargestScale) continue;
    return fields.Fault("field 'scale' is " + std::to_string(scale) +
                            "; it has to be a float32 greater than zero",
                        DiagnosticCode::bad_scale);
  }
  for (int64_t offset : grid.offsets) {
    if (offset <= 0 && offset >= -top) continue;
    return fields.Fault("field 'offset' is " + std::to_string(offset) +
                            "; zero needs one of the codes 0 to " +
                            std::to_string(top),
                        DiagnosticCode::bad_zero_point);
  }
  return true;
}

// A symmetric grid counts from its middle: its codes are signed and zero is 0.
void Fill(const Grid& grid, bool symmetric, int64_t bits,
          EncodingEntry* entry) {
  Encoding& e = entry->encoding;
  e.scales = grid.scales;
  const int64_t first = grid.offsets[0];
  const bool alike =
      std::all_of(grid.offsets.begin(), grid.offsets.end(),
                  [&](int64_t offset) { return offset == first; });
  const int64_t half = int64_t{1} << (bits - 1);
  const bool is_signed =
      symmetric && alike && (first == -half || first == 1 - half);
  const int64_t shift = is_signed ? first : 0;
  for (int64_t offset : grid.offsets) e.zero_points.push_back(shift - offset);
  e.code_low = grid.low + shift;
  e.code_high = grid.high + shift;
  // With an offset of 1 - half, the top code would have no opposite.
  if (is_signed && first == 1 - half) {
    e.code_high = std::min(*e.code_high, half - 1);
  }
}

class TableReader {
 public:
  TableReader(EncodingTable* table, Diagnostics* sink)
      : table_(table), sink_(sink), faults_before_(sink->all().size()) {}

  bool Read(const JsonValue& root) {
    if (root.kind != JsonValue::Kind::kObject) {
      return Fault(
          "", "is " + std::string(KindName(root.kind)) + " and not an object");
    }
    const JsonValue* version = root.Find("version");
    if (!version || version->kind != JsonValue::Kind::kText) {
      return Fault("version",
                   "is missing or not a text; foldd reads \"0.6.1\" and "
                   "\"1.0.0\"");
    }
    if (version->text != "0.6.1" && version->text != "1.0.0") {
      return Fault("version", "is \"" + Shorten(version->text) +
                                  "\"; foldd reads \"0.6.1\" and \"1.0.0\"");
    }
    const bool old = version->text == "0.6.1";
    bool any = false;
    for (size_t i = 0; i < root.keys.size() && !Enough(); ++i) {
      const std::string& key = root.keys[i];
      if (key != "activation_encodings" && key != "param_encodings") continue;
      if (root.Find(key) != &root.items[i]) {
        Fault(key, "stands twice");
        continue;
      }
      any = true;
      section_ = key;
      kind_ = key == "param_encodings" ? EncodingEntry::Kind::kParameter
                                       : EncodingEntry::Kind::kActivation;
      old ? ReadNames(root.items[i]) : ReadList(root.items[i]);
    }
    if (!any) {
      return Fault("", "has neither activation_encodings nor param_encodings");
    }
    return !Faulty();
  }

 private:
  bool Fault(const std::string& where, const std::string& message) const {
    return sink_->Add(DiagnosticCode::bad_encoding_table, where, message);
  }
  bool Faulty() const { return sink_->all().size() > faults_before_; }
  bool Enough() const {
    return sink_->all().size() >= faults_before_ + kMostFaults;
  }
  EncodingEntry NewEntry(const std::string& name) const {
    EncodingEntry entry;
    entry.kind = kind_;
    entry.name = name;
    return entry;
  }
  // The entry's name in messages.
  static std::string Where(EncodingEntry entry) {
    entry.name = Shorten(entry.name);
    return SourceOf(entry);
  }
  void Add(EncodingEntry entry) {
    entry.encoding.source = Where(entry);
    table_->entries.push_back(std::move(entry));
  }

  // 0.6.1: tensor -> list of encodings, or node -> input/output -> place.
  void ReadNames(const JsonValue& section) {
    if (section.kind != JsonValue::Kind::kObject) {
      Fault(section_, "is " + std::string(KindName(section.kind)) +
                          " and not an object of names");
      return;
    }
    for (size_t i = 0; i < section.items.size() && !Enough(); ++i) {
      const JsonValue& item = section.items[i];
      EncodingEntry entry = NewEntry(section.keys[i]);
      const bool ports = item.kind == JsonValue::Kind::kObject &&
                         (item.Find("input") || item.Find("output"));
      ports ? ReadPorts(entry, item) : ReadOld(entry, item);
    }
  }

  void ReadPorts(EncodingEntry entry, const JsonValue& node) {
    if (!EntryFields(node, Where(entry), sink_).Check({"input", "output"}))
      return;
    for (size_t i = 0; i < node.items.size(); ++i) {
      const JsonValue& port = node.items[i];
      entry.port = node.keys[i] == "input" ? EncodingEntry::Port::kInput
                                           : EncodingEntry::Port::kOutput;
      if (port.kind != JsonValue::Kind::kObject) {
        Fault(Where(entry), "is " + std::string(KindName(port.kind)) +
                                " and not an object of places");
        continue;
      }
      for (size_t k = 0; k < port.items.size() && !Enough(); ++k) {
        const std::string& place = port.keys[k];
        const bool digits =
            !place.empty() && place.size() <= 4 &&
            place.find_first_not_of("0123456789") == std::string::npos;
        if (!digits) {
          Fault(Where(entry), "'" + Shorten(place) + "' is no place's number");
          continue;
        }
        entry.place = std::stol(place);
        ReadOld(entry, port.items[k]);
      }
    }
  }

  // One encoding, or a list with one for the tensor or one for each channel.
  void ReadOld(EncodingEntry entry, const JsonValue& value) {
    const JsonValue* first = &value;
    size_t count = 1;
    if (value.kind == JsonValue::Kind::kList) {
      first = value.items.data();
      count = value.items.size();
    }
    if (count == 0) {
      Fault(Where(entry), "is an empty list");
      return;
    }
    Grid grid;
    bool symmetric = false;
    for (size_t i = 0; i < count; ++i) {
      EncodingEntry one = entry;
      Grid part;
      bool is_symmetric = false;
      if (!ReadOldChannel(first[i], &one, &part, &is_symmetric)) return;
      if (i == 0) {
        entry = one;
        symmetric = is_symmetric;
        grid = part;
        continue;
      }
      if (one.is_float != entry.is_float || one.bits != entry.bits ||
          is_symmetric != symmetric || part.low != grid.low ||
          part.high != grid.high) {
        Fault(Where(entry), "channel " + std::to_string(i) +
                                " has another type or range than channel 0");
        return;
      }
      grid.scales.push_back(part.scales[0]);
      grid.offsets.push_back(part.offsets[0]);
    }
    entry.per_channel = count > 1;
    if (!entry.is_float) Fill(grid, symmetric, entry.bits, &entry);
    Add(std::move(entry));
  }

  bool ReadOldChannel(const JsonValue& value, EncodingEntry* entry, Grid* grid,
                      bool* symmetric) const {
    const EntryFields fields(value, Where(*entry), sink_);
    if (!fields.Check({"bitwidth", "dtype", "is_symmetric", "max", "min",
                       "offset", "scale"}) ||
        !ReadType(fields, &entry->is_float) ||
        !fields.Integer("bitwidth", &entry->bits) ||
        !CheckBits(fields, *entry)) {
      return false;
    }
    grid->scales = {1};
    grid->offsets = {0};
    if (entry->is_float) return true;
    if (!fields.Truth("is_symmetric", symmetric) ||
        !fields.Number("scale", &grid->scales[0]) ||
        !fields.Integer("offset", &grid->offsets[0]) ||
        !CheckGrid(fields, *grid, entry->bits)) {
      return false;
    }
    grid->high = (int64_t{1} << entry->bits) - 1;
    return ReadEnd(fields, "min", entry->bits, grid, &grid->low) &&
           ReadEnd(fields, "max", entry->bits, grid, &grid->high);
  }

  // `min` and `max` repeat what scale and offset say, and tell a narrow range.
  static bool ReadEnd(const EntryFields& fields, std::string_view key,
                      int64_t bits, Grid* grid, int64_t* code) {
    if (!fields.Has(key)) return true;
    double real = 0;
    if (!fields.Number(key, &real)) return false;
    // Of wider codes a float32 cannot say which one it means.
    if (bits > kMostActivationBits) return true;
    const double exact =
        real / grid->scales[0] - static_cast<double>(grid->offsets[0]);
    const double nearest = std::nearbyint(exact);
    const auto top = static_cast<double>((int64_t{1} << bits) - 1);
    if (std::fabs(exact - nearest) > kGridSlack || nearest < 0 ||
        nearest > top) {
      return fields.Fault("field '" + std::string(key) +
                          "' is no number that scale, offset and bitwidth "
                          "give");
    }
    *code = static_cast<int64_t>(nearest);
    return grid->low <= grid->high ||
           fields.Fault("field 'min' is greater than field 'max'");
  }

  // 1.0.0: a list of entries that say their names.
  void ReadList(const JsonValue& section) {
    if (section.kind != JsonValue::Kind::kList) {
      Fault(section_, "is " + std::string(KindName(section.kind)) +
                          " and not a list of entries");
      return;
    }
    for (size_t i = 0; i < section.items.size() && !Enough(); ++i) {
      const JsonValue* name = section.items[i].Find("name");
      if (!name || name->kind != JsonValue::Kind::kText) {
        Fault(section_ + "[" + std::to_string(i) + "]",
              "is no object with a text 'name'");
        continue;
      }
      ReadNew(NewEntry(name->text), section.items[i]);
    }
  }

  void ReadNew(EncodingEntry entry, const JsonValue& value) {
    const EntryFields fields(value, Where(entry), sink_);
    std::string type = "PER_TENSOR";
    if (!fields.Check({"name", "enc_type", "dtype", "bw", "is_sym", "scale",
                       "offset", "axis", "block_size", "compressed_bw",
                       "per_block_int_scale"}) ||
        !ReadType(fields, &entry.is_float) ||
        !fields.Integer("bw", &entry.bits) || !CheckBits(fields, entry) ||
        (fields.Has("enc_type") && !fields.Text("enc_type", &type))) {
      return;
    }
    if (entry.is_float) return Add(std::move(entry));
    if (type == "PER_BLOCK" || type == "LPBQ") {
      fields.Fault("is quantized in blocks (" + type +
                       "), which no integer operator of foldd takes",
                   DiagnosticCode::unsupported_type);
      return;
    }
    if (type != "PER_TENSOR" && type != "PER_CHANNEL") {
      fields.Fault("field 'enc_type' is '" + Shorten(type) +
                   "'; it is PER_TENSOR, PER_CHANNEL, PER_BLOCK or LPBQ");
      return;
    }
    entry.per_channel = type == "PER_CHANNEL";
    ReadNewGrid(fields, std::move(entry));
  }

  void ReadNewGrid(const EntryFields& fields, EncodingEntry entry) {
    Grid grid;
    std::vector<double> offsets;
    bool symmetric = false;
    if (!fields.Truth("is_sym", &symmetric) ||
        !fields.Numbers("scale", &grid.scales) ||
        !fields.Numbers("offset", &offsets)) {
      return;
    }
    for (std::string_view key :
         {"block_size", "compressed_bw", "per_block_int_scale"}) {
      if (!fields.Has(key)) continue;
      fields.Fault("has a field '" + std::string(key) + "' without blocks");
      return;
    }
    if (grid.scales.size() != offsets.size() || grid.scales.empty() ||
        (!entry.per_channel && grid.scales.size() != 1)) {
      fields.Fault("has " + std::to_string(grid.scales.size()) +
                   " scales and " + std::to_string(offsets.size()) +
                   " offsets, which do not fit its enc_type");
      return;
    }
    for (double offset : offsets) {
      grid.offsets.push_back(0);
      if (!fields.Whole("offset", offset, &grid.offsets.back())) return;
    }
    if (fields.Has("axis")) {
      int64_t axis = 0;
      if (!fields.Integer("axis", &axis)) return;
      entry.axis = axis;
    }
    if (!CheckGrid(fields, grid, entry.bits)) return;
    grid.high = (int64_t{1} << entry.bits) - 1;
    Fill(grid, symmetric, entry.bits, &entry);
    Add(std::move(entry));
  }

  EncodingTable* table_;
  Diagnostics* sink_;
  size_t faults_before_;
  std::string section_;
  EncodingEntry::Kind kind_ = EncodingEntry::Kind::kActivation;
};

}  // namespace

std::string SourceOf(const EncodingEntry& entry) {
  const std::string section = entry.kind == EncodingEntry::Kind::kParameter
                                  ? "param_encodings"
                                  : "activation_encodings";
  std::string name = section + " '" + entry.name + "'";
  switch (entry.port) {
    case EncodingEntry::Port::kInput:
      return name + " input " + std::to_string(entry.place);
    case EncodingEntry::Port::kOutput:
      return name + " output " + std::to_string(entry.place);
    default:
      return name;
  }
}

bool ReadEncodingTable(std::string_view json, EncodingTable* table,
                       Diagnostics* sink) {
  JsonValue root;
  const std::string fault = ParseJson(json, &root);
  if (!fault.empty()) {
    return sink->Add(DiagnosticCode::bad_encoding_table, "--encodings", fault);
  }
  return TableReader(table, sink).Read(root);
}

}  // namespace fold
