#include "compiler/plan/packing.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fold {
namespace {

// Buffers that live at time t change only at starts and ends; of these sets
// the maximal ones stand where an end follows a start.
void MakeSections(const Problem& problem, Packing* packing) {
  struct Event {
    int64_t time;
    bool start;
    int block;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const int block = static_cast<int>(i);
    if (buffer.size == 0) continue;
    events.push_back({buffer.lower, true, block});
    events.push_back({buffer.upper, false, block});
  }
  // Ends first: [a, b) and [b, c) do not meet.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.time, a.start) < std::pair(b.time, b.start) ||
           (std::pair(a.time, a.start) == std::pair(b.time, b.start) &&
            a.block < b.block);
  });
  std::vector<int> live;
  bool grown = false;
  for (const Event& event : events) {
    Block& block = packing->blocks[event.block];
    const int section = static_cast<int>(packing->sections.size());
    if (event.start) {
      block.first = section;
      live.insert(std::lower_bound(live.begin(), live.end(), event.block),
                  event.block);
      grown = true;
      continue;
    }
    if (grown) packing->sections.push_back(live);
    grown = false;
    block.last = static_cast<int>(packing->sections.size()) - 1;
    live.erase(std::lower_bound(live.begin(), live.end(), event.block));
  }
}

// What a block overlaps lives in its first section or begins in a later one.
void MakeOverlaps(Packing* packing) {
  std::vector<std::vector<int>> starts(packing->sections.size());
  const auto count = static_cast<int>(packing->blocks.size());
  for (int i = 0; i < count; ++i) {
    const Block& block = packing->blocks[i];
    if (block.first <= block.last) starts[block.first].push_back(i);
  }
  packing->overlaps.resize(packing->blocks.size());
  for (int i = 0; i < count; ++i) {
    const Block& block = packing->blocks[i];
    if (block.first > block.last) continue;
    std::vector<int>& others = packing->overlaps[i];
    others = packing->sections[block.first];
    for (int k = block.first + 1; k <= block.last; ++k) {
      others.insert(others.end(), starts[k].begin(), starts[k].end());
    }
    std::sort(others.begin(), others.end());
    others.erase(std::lower_bound(others.begin(), others.end(), i));
  }
}

}  // namespace

Packing MakePacking(const Problem& problem) {
  Packing packing;
  packing.blocks.resize(problem.buffers.size());
  int64_t unit = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.size == 0) continue;
    unit = unit == 0 ? buffer.alignment : std::min(unit, buffer.alignment);
  }
  packing.unit = std::max<int64_t>(unit, 1);
  int64_t granule = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    Block& block = packing.blocks[i];
    block.first = 0;
    block.last = -1;
    block.size = AlignUp(problem.buffers[i].size, packing.unit);
    block.alignment = problem.buffers[i].alignment;
    granule = std::gcd(granule, block.size);
  }
  for (const Block& block : packing.blocks) {
    if (granule % block.alignment != 0) {
      granule = std::gcd(granule, block.alignment);
    }
  }
  packing.granule = std::max<int64_t>(granule, 1);
  MakeSections(problem, &packing);
  MakeOverlaps(&packing);
  for (const auto& section : packing.sections) {
    int64_t sum = 0;
    for (int i : section) sum += packing.blocks[i].size;
    packing.lower_bound = std::max(packing.lower_bound, sum);
  }
  return packing;
}

int64_t HeightOf(const Packing& packing, const std::vector<int64_t>& offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < packing.blocks.size(); ++i) {
    if (packing.blocks[i].size == 0) continue;
    height = std::max(height, offsets[i] + packing.blocks[i].size);
  }
  return height;
}

}  // namespace fold
