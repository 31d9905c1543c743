// Prepared plans by key, least recently used first out. Type-erased: the runtime that owns the
// cache knows no plan.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

namespace stwo::gpu {

/// Bounded by entries and bytes. An entry that somebody else holds (its use count is above one) is
/// in use and is never evicted. Not thread-safe.
class PlanCache {
 public:
  struct Status {
    uint64_t entries = 0;
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t evictions = 0;
    uint64_t refusals = 0;  ///< plans not kept because entries in use fill the cache
  };

  PlanCache(uint64_t max_entries, uint64_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}

  /// The plan inserted under the key with this type, or null. Counts a hit or a miss.
  template <class T>
  std::shared_ptr<T> find(std::string_view key) {
    return std::static_pointer_cast<T>(find_entry(key, typeid(T)));
  }

  /// Keeps the plan, which accounts for `bytes` (device, pinned and host together), and evicts idle
  /// entries to make room. An entry with the same key is replaced. False: there is no room that is
  /// not in use; the plan then lives as long as the caller's pointer.
  template <class T>
  bool insert(std::string_view key, std::shared_ptr<T> plan, uint64_t bytes) {
    return insert_entry(key, typeid(T), std::move(plan), bytes);
  }

  /// Evicts every idle entry; returns their number.
  uint64_t evict_idle();
  /// Forgets all entries. Those in use live on with their holders.
  void clear() { entries_.clear(); }
  Status status() const;

 private:
  struct Entry {
    std::string key;
    std::type_index type;
    std::shared_ptr<void> plan;
    uint64_t bytes;
  };
  std::shared_ptr<void> find_entry(std::string_view key, std::type_index type);
  bool insert_entry(std::string_view key, std::type_index type, std::shared_ptr<void> plan,
                    uint64_t bytes);
  uint64_t total_bytes() const;

  uint64_t max_entries_, max_bytes_;
  std::list<Entry> entries_;  // most recently used first
  Status counts_;
};

}  // namespace stwo::gpu
