#include "compiler/import/inline_branches.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/import/labels.h"

namespace fold::importer {
namespace {

using NameMap = std::unordered_map<std::string, std::string>;
using NameSet = std::unordered_set<std::string>;

bool IsIf(const onnx::NodeProto& node) {
  return node.op_type() == "If" && node.domain().empty();
}

onnx::GraphProto* BranchOf(onnx::NodeProto* node, const std::string& name) {
  for (auto& attribute : *node->mutable_attribute()) {
    if (attribute.name() == name && attribute.has_g()) {
      return attribute.mutable_g();
    }
  }
  return nullptr;
}

// Names that a graph itself makes.
void AddMade(const onnx::GraphProto& graph, NameSet* names) {
  for (const auto& input : graph.input()) names->insert(input.name());
  for (const auto& t : graph.initializer()) names->insert(t.name());
  for (const auto& node : graph.node()) {
    names->insert(node.output().begin(), node.output().end());
  }
}

void AddInside(const onnx::NodeProto& node, NameSet* names);

// All names in a graph and in those inside it.
void AddAll(const onnx::GraphProto& graph, NameSet* names) {
  AddMade(graph, names);
  for (const auto& output : graph.output()) names->insert(output.name());
  for (const auto& node : graph.node()) {
    names->insert(node.input().begin(), node.input().end());
    AddInside(node, names);
  }
}

void AddInside(const onnx::NodeProto& node, NameSet* names) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) AddAll(attribute.g(), names);
    for (const auto& inner : attribute.graphs()) AddAll(inner, names);
  }
}

void Rename(const NameMap& to, std::string* name) {
  const auto at = to.find(*name);
  if (at != to.end()) *name = at->second;
}

void RenameOperands(const NameMap& to, onnx::NodeProto* node);

// What a graph inside reads of the ones around it; a name that it makes itself
// is another value.
void RenameCaptured(const NameMap& to, onnx::GraphProto* graph) {
  NameSet made;
  AddMade(*graph, &made);
  NameMap visible;
  for (const auto& [from, name] : to) {
    if (!made.count(from)) visible.emplace(from, name);
  }
  for (auto& node : *graph->mutable_node()) RenameOperands(visible, &node);
  for (auto& output : *graph->mutable_output()) {
    Rename(visible, output.mutable_name());
  }
}

void RenameOperands(const NameMap& to, onnx::NodeProto* node) {
  for (std::string& operand : *node->mutable_input()) Rename(to, &operand);
  for (auto& attribute : *node->mutable_attribute()) {
    if (attribute.has_g()) RenameCaptured(to, attribute.mutable_g());
    for (auto& inner : *attribute.mutable_graphs()) RenameCaptured(to, &inner);
  }
}

class Inliner {
 public:
  Inliner(const ImportLimits& limits, const TypeFinder& find_types,
          onnx::ModelProto* model, Diagnostics* sink)
      : graph_(model->mutable_graph()),
        sink_(sink),
        conditions_(limits, find_types, *model) {
    AddMade(*graph_, &names_);
    names_.insert("");
    for (const auto& node : graph_->node()) node_names_.insert(node.name());
  }

  bool Run() {
    Push(graph_->mutable_node());
    while (!ahead_.empty()) {
      onnx::NodeProto node = std::move(ahead_.back());
      ahead_.pop_back();
      if (!IsIf(node)) {
        conditions_.AddNode(std::move(node));
      } else if (!Choose(std::move(node))) {
        return false;
      }
    }
    WriteBack();
    return true;
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  // `nodes` are the next ones, in order.
  void Push(Nodes* nodes) {
    for (int i = nodes->size(); i-- > 0;) {
      ahead_.push_back(std::move(*nodes->Mutable(i)));
    }
    nodes->Clear();
  }

  bool Invalid(const onnx::NodeProto& node, const std::string& what) {
    return sink_->Add(DiagnosticCode::model_invalid, NodeLabel(node),
                      "If: " + what);
  }

  // Replaces the If, or keeps it if its condition is not a constant.
  bool Choose(onnx::NodeProto node) {
    if (node.input_size() != 1) return Invalid(node, "has not one condition");
    onnx::GraphProto* branches[] = {BranchOf(&node, "else_branch"),
                                    BranchOf(&node, "then_branch")};
    for (const onnx::GraphProto* branch : branches) {
      if (branch == nullptr) return Invalid(node, "a branch is missing");
      if (!branch->input().empty()) {
        return Invalid(node, "a branch has inputs");
      }
      if (branch->output_size() != node.output_size()) {
        return Invalid(node, "a branch has another number of results");
      }
    }
    const TensorPtr condition = conditions_.ValueOf(node.input(0), sink_);
    if (sink_->has_error()) return false;
    if (condition == nullptr) {
      conditions_.AddNode(std::move(node));
      return true;
    }
    if (condition->type != ElementType::boolean || condition->size() != 1) {
      return Invalid(node, "the condition is not one boolean");
    }
    decided_.push_back(node.input(0));
    TakeBranch(node, branches[condition->integer(0) != 0]);
    return true;
  }

  std::string Fresh(const std::string& prefix, const std::string& name,
                    const NameSet& inside, NameSet* taken) {
    const std::string inner = prefix + "/" + name;
    std::string fresh = name;
    for (int i = 1; taken->count(fresh) || (i > 1 && inside.count(fresh));
         ++i) {
      fresh = i > 1 ? inner + "_" + std::to_string(i) : inner;
    }
    taken->insert(fresh);
    return fresh;
  }

  void TakeBranch(const onnx::NodeProto& node, onnx::GraphProto* branch) {
    const std::string label =
        node.name().empty() ? "If->" + node.output(0) : node.name();
    node_names_.erase(node.name());
    const NameMap to = NewNames(node, label, *branch);
    for (auto& tensor : *branch->mutable_initializer()) {
      Rename(to, tensor.mutable_name());
      onnx::TensorProto* added = graph_->add_initializer();
      added->Swap(&tensor);
      conditions_.AddInitializer(*added);
    }
    for (auto& sparse : *branch->mutable_sparse_initializer()) {
      graph_->add_sparse_initializer()->Swap(&sparse);
    }
    for (auto& info : *branch->mutable_value_info()) {
      Rename(to, info.mutable_name());
      graph_->add_value_info()->Swap(&info);
    }
    for (auto& inner : *branch->mutable_node()) {
      RenameOperands(to, &inner);
      for (std::string& result : *inner.mutable_output()) Rename(to, &result);
      if (!inner.name().empty()) {
        inner.set_name(Fresh(label, inner.name(), {}, &node_names_));
      }
    }
    AddCopies(node, label, to, branch);
    Push(branch->mutable_node());
  }

  // What each value that the branch makes is called outside.
  NameMap NewNames(const onnx::NodeProto& node, const std::string& label,
                   const onnx::GraphProto& branch) {
    NameMap to;
    NameSet made, deeper;
    for (const auto& inner : branch.node()) {
      made.insert(inner.output().begin(), inner.output().end());
      AddInside(inner, &deeper);
    }
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string& result = branch.output(i).name();
      const std::string& outside = node.output(i);
      // A graph further inside may have a value of that name.
      if (made.count(result) && !outside.empty() && !deeper.count(outside)) {
        to.emplace(result, outside);
      }
    }
    NameSet inside = std::move(deeper);
    AddMade(branch, &inside);
    const auto name = [&](const std::string& from) {
      if (from.empty() || to.count(from)) return;
      to.emplace(from, Fresh(label, from, inside, &names_));
    };
    for (const auto& tensor : branch.initializer()) name(tensor.name());
    for (const auto& inner : branch.node()) {
      for (const std::string& result : inner.output()) name(result);
    }
    return to;
  }

  // A result that the branch does not make (an initializer, a value from
  // outside) or gives twice is copied under the If's name.
  void AddCopies(const onnx::NodeProto& node, const std::string& label,
                 const NameMap& to, onnx::GraphProto* branch) {
    for (int i = 0; i < node.output_size(); ++i) {
      std::string result = branch->output(i).name();
      Rename(to, &result);
      if (node.output(i).empty() || result == node.output(i)) continue;
      onnx::NodeProto* copy = branch->add_node();
      copy->set_op_type("Identity");
      copy->set_name(Fresh(label, label, {}, &node_names_));
      copy->add_input(result);
      copy->add_output(node.output(i));
    }
  }

  // The flat list without the nodes that only led to conditions.
  void WriteBack() {
    const auto& nodes = conditions_.nodes();
    std::unordered_map<std::string, int> readers;
    std::unordered_map<std::string, size_t> maker;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string& operand : nodes[i].input()) ++readers[operand];
      for (const std::string& result : nodes[i].output()) maker[result] = i;
      NameSet inside;
      AddInside(nodes[i], &inside);
      for (const std::string& name : inside) ++readers[name];
    }
    for (const auto& output : graph_->output()) ++readers[output.name()];
    std::vector<char> gone(nodes.size());
    while (!decided_.empty()) {
      const auto at = maker.find(decided_.back());
      decided_.pop_back();
      if (at == maker.end() || gone[at->second]) continue;
      const onnx::NodeProto& node = nodes[at->second];
      const bool unread = std::all_of(
          node.output().begin(), node.output().end(),
          [&](const std::string& result) { return readers[result] == 0; });
      if (!unread) continue;
      gone[at->second] = 1;
      for (const std::string& operand : node.input()) {
        if (!operand.empty() && --readers[operand] == 0) {
          decided_.push_back(operand);
        }
      }
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!gone[i]) *graph_->add_node() = nodes[i];
    }
  }

  onnx::GraphProto* graph_;
  Diagnostics* sink_;
  BranchConditions conditions_;
  NameSet names_, node_names_;
  std::vector<onnx::NodeProto> ahead_;  // the next one last
  std::vector<std::string> decided_;    // conditions of Ifs that are gone
};

}  // namespace

bool InlineBranches(const ImportLimits& limits, const TypeFinder& find_types,
                    onnx::ModelProto* model, Diagnostics* sink) {
  const auto& nodes = model->graph().node();
  if (std::none_of(nodes.begin(), nodes.end(), IsIf)) return true;
  return Inliner(limits, find_types, model, sink).Run();
}

}  // namespace fold::importer
