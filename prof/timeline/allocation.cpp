#include "prof/timeline/allocation.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "prof/timeline/call_class.hpp"
#include "prof/timeline/device_op.hpp"

namespace prof {
namespace {

using ledger::Database;
using ledger::Statement;

constexpr int64_t kRelease = 2;

std::string memory_name(int64_t kind) {
  static constexpr const char* kNames[] = {"unknown",       "pageable",      "pinned",
                                           "device",        "array",         "managed",
                                           "device static", "managed static"};
  return kNames[kind >= 0 && kind < 8 ? kind : 0];
}
bool is_host_memory(int64_t kind) { return kind == 1 || kind == 2; }

/// Live bytes over time: before, in and after the window.
class Live {
 public:
  void change(int64_t bytes, bool in_window) {
    now_ += bytes;
    if (in_window) {
      peak_ = std::max(peak_, now_);
    } else {
      begin_ = peak_ = now_;
    }
  }
  LiveBytes answer() const { return {begin_, peak_, now_}; }

 private:
  int64_t now_ = 0;
  int64_t begin_ = 0;
  int64_t peak_ = 0;
};

struct Block {
  int64_t bytes;
  bool host;
};

/// Sizes of a pool: what is known last before the window, and everything in it.
struct Pool {
  PoolUse out;
  std::optional<int64_t> before_ns;
  std::optional<int64_t> threshold_ns;

  void see(int64_t ts_ns, bool inside, std::optional<int64_t> bytes, std::optional<int64_t> used) {
    if (!inside) {
      // Both tables tell about pools, so earlier times may come later.
      if (before_ns && *before_ns > ts_ns) return;
      before_ns = ts_ns;
      before = bytes;
      before_used = used;
      return;
    }
    raise(&out.bytes, bytes);
    raise(&out.used_bytes, used);
  }
  PoolUse answer() {
    raise(&out.bytes, before);
    raise(&out.used_bytes, before_used);
    return out;
  }
  std::optional<int64_t> before, before_used;

 private:
  static void raise(std::optional<int64_t>* high, std::optional<int64_t> value) {
    if (value) *high = std::max(high->value_or(*value), *value);
  }
};

using Pools = std::map<std::pair<int64_t, int64_t>, Pool>;  // by process and address

Pool& pool_of(Pools* pools, int64_t pid, int64_t device, int64_t address) {
  Pool& pool = (*pools)[{pid, address}];
  pool.out.pid = pid;
  pool.out.device_id = device;
  pool.out.address = static_cast<uint64_t>(address);
  return pool;
}

void see_threshold(Pool* pool, int64_t ts_ns, std::optional<int64_t> bytes) {
  if (!bytes || (pool->threshold_ns && *pool->threshold_ns > ts_ns)) return;
  pool->threshold_ns = ts_ns;
  pool->out.release_threshold_bytes = static_cast<uint64_t>(*bytes);
}

class Sweep {
 public:
  Sweep(Database& trace, const Window& window, Allocation* out)
      : trace_(trace), window_(window), names_(trace), calls_(trace), out_(*out) {}

  void run(Pools* pools) {
    Statement rows = trace_.prepare(
        "SELECT pid, op, mem_kind, device_id, address, bytes, ts_ns, corr, pool_type, "
        "pool_address, pool_bytes, pool_used_bytes, pool_release_threshold_bytes FROM mem_event "
        "WHERE ts_ns < ?1 ORDER BY ts_ns, corr, op DESC, address");
    rows.bind(1, window_.end_ns);
    while (rows.step()) {
      const bool inside = window_.starts_inside(rows.integer(6));
      count(rows, inside);
      if (rows.is_null(9) || rows.optional_integer(8) != 1) continue;
      Pool& pool = pool_of(pools, rows.integer(0), rows.integer(3), rows.integer(9));
      pool.see(rows.integer(6), inside, rows.optional_integer(10), rows.optional_integer(11));
      see_threshold(&pool, rows.integer(6), rows.optional_integer(12));
    }
    out_.device = device_.answer();
    out_.host = host_.answer();
    for (const auto& [key, calls] : groups_) out_.calls.push_back(calls);
  }

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // process, device, address
  struct Hash {
    size_t operator()(const Key& key) const {
      const auto mix = [](uint64_t a, uint64_t b) {
        return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
      };
      return mix(
          mix(static_cast<uint64_t>(std::get<0>(key)), static_cast<uint64_t>(std::get<1>(key))),
          static_cast<uint64_t>(std::get<2>(key)));
    }
  };

  void count(const Statement& row, bool inside) {
    const bool release = row.integer(1) == kRelease;
    const int64_t bytes = row.integer(5);
    if (inside) {
      ++(release ? out_.releases : out_.allocations);
      (release ? out_.released_bytes : out_.allocated_bytes) += bytes;
      std::optional<std::string> call;
      if (const auto& found = calls_.find(row.integer(0), row.integer(7))) {
        call = base_call_name(names_.of(found->name));
      }
      MemoryCalls& group = groups_[{release, call.value_or(""), row.integer(2)}];
      group.release = release;
      group.call = call;
      group.memory = memory_name(row.integer(2));
      ++group.events;
      group.bytes += bytes;
    }
    const Key key(row.integer(0), row.integer(3), row.integer(4));
    const auto it = live_.find(key);
    if (it != live_.end()) {
      change(it->second, -it->second.bytes, inside);
      live_.erase(it);
      if (!release) ++out_.replaced;
    } else if (release) {
      ++out_.unmatched_releases;
    }
    if (release) return;
    const Block block{bytes, is_host_memory(row.integer(2))};
    live_.emplace(key, block);
    change(block, bytes, inside);
  }
  void change(const Block& block, int64_t bytes, bool inside) {
    (block.host ? host_ : device_).change(bytes, inside);
  }

  Database& trace_;
  const Window& window_;
  Names names_;
  CallFinder calls_;
  Allocation& out_;
  std::unordered_map<Key, Block, Hash> live_;
  std::map<std::tuple<bool, std::string, int64_t>, MemoryCalls> groups_;
  Live device_, host_;
};

void read_pool_events(Database& trace, const Window& window, Pools* pools, Allocation* out) {
  Statement rows = trace.prepare(
      "SELECT pid, op, device_id, address, size_bytes, used_bytes, release_threshold_bytes, ts_ns "
      "FROM pool_event WHERE pool_type = 1 AND ts_ns < ?1 ORDER BY ts_ns, corr, op");
  rows.bind(1, window.end_ns);
  while (rows.step()) {
    const int64_t ts = rows.integer(7);
    const bool inside = window.starts_inside(ts);
    Pool& pool = pool_of(pools, rows.integer(0), rows.integer(2), rows.integer(3));
    if (inside) {
      if (rows.integer(1) == 1) ++out->pools_created;
      if (rows.integer(1) == 2) ++out->pools_destroyed;
      if (rows.integer(1) == 3) ++pool.out.trims;
    }
    pool.see(ts, inside, rows.optional_integer(4), rows.optional_integer(5));
    see_threshold(&pool, ts, rows.optional_integer(6));
  }
}

}  // namespace

Answer<Allocation> allocation(Database& trace, const Window& window, const Recorded& recorded) {
  if (const auto why = recorded.why_not({"MEMORY2"})) return Answer<Allocation>::unknown(*why);
  Allocation out;
  Pools pools;
  Sweep(trace, window, &out).run(&pools);
  out.untimed = trace.query_integer("SELECT COUNT(*) FROM mem_event WHERE ts_ns IS NULL");
  if (const auto why = recorded.why_not({"MEMORY_POOL"})) {
    out.pools = Answer<std::vector<PoolUse>>::unknown(*why);
  } else {
    read_pool_events(trace, window, &pools, &out);
    std::vector<PoolUse> list;
    for (auto& [key, pool] : pools) list.push_back(pool.answer());
    out.pools = Answer<std::vector<PoolUse>>::of(std::move(list));
  }
  if (window.source == WindowSource::kCapture) {
    out.nothing_allocated =
        Answer<bool>::unknown("the window is no request, so nothing says that it may not allocate");
  } else if (window.role == "first") {
    out.nothing_allocated = Answer<bool>::unknown("a first request may allocate");
  } else if (out.untimed > 0) {
    out.nothing_allocated =
        Answer<bool>::unknown(std::to_string(out.untimed) + " records of memory have no time");
  } else {
    out.nothing_allocated = Answer<bool>::of(out.allocations == 0 && out.releases == 0);
  }
  return Answer<Allocation>::of(std::move(out));
}

}  // namespace prof
