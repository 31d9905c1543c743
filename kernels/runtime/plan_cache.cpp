#include "kernels/runtime/plan_cache.hpp"

#include <algorithm>
#include <iterator>

namespace stwo::gpu {

uint64_t PlanCache::total_bytes() const {
  uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.bytes;
  return sum;
}

PlanCache::Status PlanCache::status() const {
  Status status = counts_;
  status.entries = entries_.size();
  status.bytes = total_bytes();
  return status;
}

std::shared_ptr<void> PlanCache::find_entry(std::string_view key, std::type_index type) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.key == key && entry.type == type;
  });
  if (found == entries_.end()) {
    ++counts_.misses;
    return nullptr;
  }
  ++counts_.hits;
  entries_.splice(entries_.begin(), entries_, found);
  return found->plan;
}

bool PlanCache::insert_entry(std::string_view key, std::type_index type, std::shared_ptr<void> plan,
                             uint64_t bytes) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return entry.key == key && entry.type == type; });
  // Decide before evicting: a plan that would not fit anyway must not empty the cache.
  uint64_t busy_entries = 0, busy_bytes = 0;
  for (const Entry& entry : entries_)
    if (entry.plan.use_count() > 1) {
      ++busy_entries;
      busy_bytes += entry.bytes;
    }
  if (busy_entries + 1 > max_entries_ || busy_bytes > max_bytes_ ||
      bytes > max_bytes_ - busy_bytes) {
    ++counts_.refusals;
    return false;
  }
  uint64_t total = total_bytes();
  for (auto entry = entries_.end(); entry != entries_.begin();) {
    if (entries_.size() + 1 <= max_entries_ && bytes <= max_bytes_ - std::min(total, max_bytes_))
      break;
    --entry;
    if (entry->plan.use_count() > 1) continue;
    total -= entry->bytes;
    entry = entries_.erase(entry);
    ++counts_.evictions;
  }
  entries_.push_front({std::string(key), type, std::move(plan), bytes});
  return true;
}

uint64_t PlanCache::evict_idle() {
  const uint64_t evicted =
      std::erase_if(entries_, [](const Entry& entry) { return entry.plan.use_count() == 1; });
  counts_.evictions += evicted;
  return evicted;
}

}  // namespace stwo::gpu
