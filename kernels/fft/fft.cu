// Circle FFT passes on tiles kept in registers: 16 values a thread, windows of four layers,
// exchanges through shared memory between windows. Source: Circle STARKs (ePrint 2024/278),
// section 4. Oracle: prover/poly/circle_fft.
//
// Ledger, N = n_columns * 2^log_rows, M31 = 4 bytes:
//   kernel       launches  reads  writes         butterflies
//   fft_inverse  1         4N     4N             n_layers N / 2
//   fft_forward  1         4N     4N             n_layers N / 2
//   fft_extend   1         4N     4N blocks      n_layers N / 2 (1 + blocks)
//
// Geometry: a tile is 2^12 (wide: 2^14) values of one column, element e of it
//   contiguous  row = tile + e (short transforms: several columns, column = e >> log_rows)
//   strided     row = outer block + (e >> lanes) << low_layer + lane, lane = low bits of e;
//               4, 8 or 10 layers a pass
// so that bits lanes.. of e are the row bits the pass works on. A thread holds the 16 elements that
// differ in the four bits of its current window. Tiles run over block_index, column groups over
// block_index_y.

#include "kernels/device/field.cuh"
#include "kernels/fft/fft_args.hpp"

namespace stwo::gpu {
namespace {

enum class Mode { kInverse, kForward, kExtend };

/// Twiddles of one transform. Everything but the tile's place is the same for all threads and stays
/// in the arguments: registers are what limits these kernels.
/// kForwardTables: those of an extension's second half.
template <uint32_t kLogTile, uint32_t kLayers, bool kForwardTables>
struct LayerTwiddles {
  /// First element bit that is a row bit of the pass.
  static constexpr uint32_t kFirstBit = kLayers == 0 ? 0 : kLogTile - kLayers;
  const FftArgs& args;
  uint32_t row;  ///< first row of the tile's outer block in the domain (domains are below 2^31)

  STWO_DEVICE bool active(uint32_t bit) const {
    if constexpr (kLayers == 0) {
      return bit < args.n_layers;
    } else {
      return bit >= kFirstBit && bit < kLogTile;
    }
  }
  /// Element bits that are row bits, for transforms shorter than a tile.
  STWO_DEVICE uint32_t row_mask() const { return (1u << args.log_rows) - 1; }
  /// Twiddles of element bit `bit`, from the tile's group `first` on.
  STWO_DEVICE const uint32_t* at(uint32_t bit, uint32_t first) const {
    const uint32_t layer = args.low_layer + bit - kFirstBit;
    const uint32_t domain_log = kForwardTables ? args.forward_domain_log : args.domain_log;
    const uint32_t* x = kForwardTables ? args.forward_x : args.x;
    const uint32_t* y = kForwardTables ? args.forward_y : args.y;
    return (layer == 0 ? y : x) + ((1u << (domain_log - 1 - layer)) + (row >> (layer + 1)) + first);
  }
};

template <bool kInverse>
STWO_DEVICE void butterfly(uint32_t& a, uint32_t& b, uint32_t twiddle) {
  if constexpr (kInverse) {
    const uint32_t d = m31_sub(a, b);
    a = m31_add(a, b);
    b = m31_mul_doubled(d, twiddle);
  } else {
    const uint32_t t = m31_mul_doubled(b, twiddle);
    b = m31_sub(a, t);
    a = m31_add(a, t);
  }
}

/// Element index of a thread's value i in the window that starts at bit kStart.
template <uint32_t kStart>
STWO_DEVICE uint32_t element(uint32_t thread, uint32_t i) {
  return ((thread >> kStart) << (kStart + 4)) | (i << kStart) | (thread & ((1u << kStart) - 1));
}

/// One layer: local bit kBit of the window.
template <bool kInverse, bool kShort, uint32_t kStart, uint32_t kBit, class Twiddles>
STWO_DEVICE void layer(uint32_t (&v)[16], const Twiddles& tw, uint32_t thread) {
  constexpr uint32_t kGroups = 8 >> kBit;
  constexpr uint32_t bit = kStart + kBit;
  if (!tw.active(bit)) return;
  uint32_t t[kGroups];
  if constexpr (kShort) {
    STWO_UNROLL
    for (uint32_t g = 0; g < kGroups; ++g) {
      const uint32_t e = element<kStart>(thread, g << (kBit + 1)) & tw.row_mask();
      t[g] = load_constant(tw.at(bit, e >> (bit + 1)));
    }
  } else {
    const uint32_t* p = tw.at(bit, (thread >> kStart) << (3 - kBit));
    if constexpr (kGroups >= 4) {
      STWO_UNROLL
      for (uint32_t g = 0; g < kGroups; g += 4) {
        const Word4 w = load4(p + g);
        t[g] = w.x;
        t[g + 1] = w.y;
        t[g + 2] = w.z;
        t[g + 3] = w.w;
      }
    } else {
      STWO_UNROLL
      for (uint32_t g = 0; g < kGroups; ++g) t[g] = load_constant(p + g);
    }
  }
  STWO_UNROLL
  for (uint32_t g = 0; g < kGroups; ++g) {
    STWO_UNROLL
    for (uint32_t l = 0; l < (1u << kBit); ++l) {
      const uint32_t i = (g << (kBit + 1)) | l;
      butterfly<kInverse>(v[i], v[i | (1u << kBit)], t[g]);
    }
  }
}

template <bool kInverse, bool kShort, uint32_t kStart, class Twiddles>
STWO_DEVICE void window(uint32_t (&v)[16], const Twiddles& tw, uint32_t thread) {
  if constexpr (kInverse) {
    layer<true, kShort, kStart, 0>(v, tw, thread);
    layer<true, kShort, kStart, 1>(v, tw, thread);
    layer<true, kShort, kStart, 2>(v, tw, thread);
    layer<true, kShort, kStart, 3>(v, tw, thread);
  } else {
    layer<false, kShort, kStart, 3>(v, tw, thread);
    layer<false, kShort, kStart, 2>(v, tw, thread);
    layer<false, kShort, kStart, 1>(v, tw, thread);
    layer<false, kShort, kStart, 0>(v, tw, thread);
  }
}

template <uint32_t kLogTile>
struct TileMemory {
  uint32_t words[(1u << kLogTile) / 16 * 17];
};
/// Extension only: coefficients wait here for their next block, each thread's own, so that they do
/// not take registers from the transform.
template <uint32_t kLogTile>
struct ExtendMemory {
  TileMemory<kLogTile> tile;
  uint32_t coefficients[1u << kLogTile];
};
static_assert(sizeof(TileMemory<kFftLogTile>) == kFftSharedBytes &&
              sizeof(TileMemory<kFftLogWideTile>) == kFftWideSharedBytes &&
              sizeof(ExtendMemory<kFftLogTile>) == kFftExtendSharedBytes &&
              sizeof(ExtendMemory<kFftLogWideTile>) == kFftWideExtendSharedBytes);
/// A word of padding every 16 keeps all window patterns free of bank conflicts.
STWO_DEVICE uint32_t padded(uint32_t e) { return e + (e >> 4); }
/// Padded distance from a thread's value 0 to its value i: the same for all threads, so that the
/// sixteen accesses share one address.
template <uint32_t kStart>
STWO_DEVICE constexpr uint32_t padded_step(uint32_t i) {
  return (i << kStart) + ((i << kStart) >> 4);
}

template <uint32_t kLogTile, uint32_t kFrom, uint32_t kTo>
STWO_DEVICE void exchange(uint32_t (&v)[16], uint32_t thread) {
  auto& tile = shared_memory<TileMemory<kLogTile>>();
  uint32_t* const from = tile.words + padded(element<kFrom>(thread, 0));
  const uint32_t* const to = tile.words + padded(element<kTo>(thread, 0));
  sync_block();
  STWO_UNROLL
  for (uint32_t i = 0; i < 16; ++i) from[padded_step<kFrom>(i)] = v[i];
  sync_block();
  STWO_UNROLL
  for (uint32_t i = 0; i < 16; ++i) v[i] = to[padded_step<kTo>(i)];
}

/// First bit of window w: the three windows end at the tile's top bit.
template <uint32_t kLogTile>
constexpr uint32_t window_start(uint32_t w) {
  return 4 * w + kLogTile - 12;
}

/// All layers of the pass. Starts and ends in the outermost windows: kFirst for the low side, 2 for
/// the high one.
template <bool kInverse, bool kShort, uint32_t kLogTile, uint32_t kFirst, class Twiddles>
STWO_DEVICE void transform(uint32_t (&v)[16], const Twiddles& tw, uint32_t thread) {
  constexpr uint32_t s0 = window_start<kLogTile>(0);
  constexpr uint32_t s1 = window_start<kLogTile>(1);
  constexpr uint32_t s2 = window_start<kLogTile>(2);
  if constexpr (kInverse) {
    if constexpr (kFirst == 0) {
      window<true, kShort, s0>(v, tw, thread);
      exchange<kLogTile, s0, s1>(v, thread);
    }
    if constexpr (kFirst <= 1) {
      window<true, kShort, s1>(v, tw, thread);
      exchange<kLogTile, s1, s2>(v, thread);
    }
    window<true, kShort, s2>(v, tw, thread);
  } else {
    window<false, kShort, s2>(v, tw, thread);
    if constexpr (kFirst <= 1) {
      exchange<kLogTile, s2, s1>(v, thread);
      window<false, kShort, s1>(v, tw, thread);
    }
    if constexpr (kFirst == 0) {
      exchange<kLogTile, s1, s0>(v, thread);
      window<false, kShort, s0>(v, tw, thread);
    }
  }
}

/// Where a tile lies in a column, and how far apart a thread's elements are. Rows are below 2^31.
template <uint32_t kLogTile, uint32_t kLayers>
struct TilePlace {
  /// Bits of an element that are no row bits of the pass; a contiguous pass has none.
  static constexpr uint32_t kLogLanes = kLayers == 0 ? 0 : kLogTile - kLayers;
  uint32_t row;        ///< first row of the tile
  uint32_t outer_row;  ///< first row of the block of 2^(low_layer + layers) rows it lies in
  uint32_t low_layer;

  STWO_DEVICE explicit TilePlace(const FftArgs& args) : low_layer(args.low_layer) {
    const uint32_t tile = block_index() + args.first_tile;
    if constexpr (kLayers == 0) {
      row = tile << kLogTile;
      outer_row = row;
    } else {
      const uint32_t log_tiles = low_layer - kLogLanes;
      const uint32_t outer = tile >> log_tiles;
      outer_row = outer << (low_layer + kLayers);
      row = outer_row + ((tile - (outer << log_tiles)) << kLogLanes);
    }
  }
  STWO_DEVICE uint32_t row_of(uint32_t e) const {
    if constexpr (kLayers == 0) return row + e;
    return row + ((e >> kLogLanes) << low_layer) + (e & ((1u << kLogLanes) - 1));
  }
  /// Rows between a thread's values i and i + 1 in the window that starts at kStart: the window has
  /// row bits only.
  template <uint32_t kStart>
  STWO_DEVICE uint32_t step() const {
    static_assert(kStart >= kLogLanes);
    return 1u << (kLayers == 0 ? kStart : low_layer + kStart - kLogLanes);
  }
};

/// kLayers: 0 for a contiguous pass. kShort: the transform is shorter than a tile.
template <Mode kMode, uint32_t kLayers, bool kShort>
STWO_DEVICE void run_pass(const FftArgs& args) {
  constexpr uint32_t kLogTile = kLayers == 10 ? kFftLogWideTile : kFftLogTile;
  constexpr uint32_t kFirst = kLayers == 4 ? 2 : kLayers == 8 ? 1 : 0;
  // A wide tile's lowest window would touch memory in pieces of two words: its values are read and
  // written in the middle window's pattern.
  constexpr uint32_t kLowWindow = kLayers == 10 ? 1 : kFirst;
  constexpr uint32_t low = window_start<kLogTile>(kLowWindow);
  constexpr uint32_t first = window_start<kLogTile>(kFirst);
  constexpr uint32_t high = window_start<kLogTile>(2);
  const uint32_t thread = thread_index();
  const TilePlace<kLogTile, kLayers> place(args);

  const LayerTwiddles<kLogTile, kLayers, false> tw{
      args, (args.domain_block << args.log_rows) + place.outer_row};

  const uint32_t group = kShort ? 1u << (kLogTile - args.log_rows) : args.columns_per_block;
  const uint32_t begin = block_index_y() * group;
  const uint32_t end = minimum(begin + group, args.n_columns);
  const uint32_t steps = kShort ? 1 : end - begin;
  STWO_NO_UNROLL
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t column = begin + step;
    uint32_t v[16];
    constexpr bool kReadLow = kMode != Mode::kForward;
    constexpr uint32_t kReadStart = kReadLow ? low : high;
    if constexpr (kShort) {
      STWO_UNROLL
      for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t e = element<kReadStart>(thread, i);
        const uint32_t c = column + (e >> args.log_rows);
        v[i] = c < args.n_columns ? args.source[c * args.source_stride + (e & tw.row_mask())] : 0;
      }
    } else {
      const uint32_t* p =
          args.source + column * args.source_stride + place.row_of(element<kReadStart>(thread, 0));
      if constexpr (kReadStart == 0) {
        STWO_UNROLL
        for (uint32_t i = 0; i < 16; i += 4) {
          const Word4 w = load4(p + i);
          v[i] = w.x;
          v[i + 1] = w.y;
          v[i + 2] = w.z;
          v[i + 3] = w.w;
        }
      } else {
        const uint32_t step_rows = place.template step<kReadStart>();
        STWO_UNROLL
        for (uint32_t i = 0; i < 16; ++i, p += step_rows) v[i] = *p;
      }
    }

    const auto store = [&](const uint32_t(&values)[16], uint64_t offset) {
      constexpr bool kWriteLow = kMode != Mode::kInverse;
      constexpr uint32_t kWriteStart = kWriteLow ? low : high;
      if constexpr (kShort) {
        STWO_UNROLL
        for (uint32_t i = 0; i < 16; ++i) {
          const uint32_t e = element<kWriteStart>(thread, i);
          const uint32_t c = column + (e >> args.log_rows);
          if (c < args.n_columns) {
            args.target[c * args.target_stride + offset + (e & tw.row_mask())] = values[i];
          }
        }
      } else {
        uint32_t* p = args.target + column * args.target_stride + offset +
                      place.row_of(element<kWriteStart>(thread, 0));
        if constexpr (kWriteStart == 0) {
          STWO_UNROLL
          for (uint32_t i = 0; i < 16; i += 4) {
            store4(p + i, {values[i], values[i + 1], values[i + 2], values[i + 3]});
          }
        } else {
          const uint32_t step_rows = place.template step<kWriteStart>();
          STWO_UNROLL
          for (uint32_t i = 0; i < 16; ++i, p += step_rows) *p = values[i];
        }
      }
    };

    if constexpr (kMode != Mode::kForward) {
      if constexpr (low != first) exchange<kLogTile, low, first>(v, thread);
      transform<true, kShort, kLogTile, kFirst>(v, tw, thread);
      if (args.scale_log != 0) {
        const uint32_t shift = (31 - args.scale_log % 31) % 31;
        STWO_UNROLL
        for (uint32_t i = 0; i < 16; ++i) v[i] = m31_rotate(v[i], shift);
      }
      if constexpr (kMode == Mode::kInverse) store(v, 0);
    }
    if constexpr (kMode == Mode::kForward) {
      transform<false, kShort, kLogTile, kFirst>(v, tw, thread);
      if constexpr (low != first) exchange<kLogTile, first, low>(v, thread);
      store(v, 0);
    }
    if constexpr (kMode == Mode::kExtend) {
      auto& coefficients = shared_memory<ExtendMemory<kLogTile>>().coefficients;
      constexpr uint32_t kThreads = (1u << kLogTile) / 16;
      STWO_UNROLL
      for (uint32_t i = 0; i < 16; ++i) coefficients[i * kThreads + thread] = v[i];
      STWO_NO_UNROLL
      for (uint32_t block = args.first_block; block < args.end_block; ++block) {
        uint32_t w[16];
        STWO_UNROLL
        for (uint32_t i = 0; i < 16; ++i) w[i] = coefficients[i * kThreads + thread];
        const uint32_t offset = block << args.log_rows;
        const LayerTwiddles<kLogTile, kLayers, true> forward{args, offset + place.outer_row};
        transform<false, kShort, kLogTile, kFirst>(w, forward, thread);
        if constexpr (low != first) exchange<kLogTile, first, low>(w, thread);
        store(w, offset);
      }
    }
  }
}

}  // namespace

STWO_KERNEL(fft_inverse_rows, FftArgs, kFftThreads, 5) { run_pass<Mode::kInverse, 0, false>(args); }
STWO_KERNEL(fft_inverse_short, FftArgs, kFftThreads, 2) { run_pass<Mode::kInverse, 0, true>(args); }
STWO_KERNEL(fft_inverse_strided4, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kInverse, 4, false>(args);
}
STWO_KERNEL(fft_inverse_strided8, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kInverse, 8, false>(args);
}
STWO_KERNEL(fft_inverse_strided10, FftArgs, kFftWideThreads, 1) {
  run_pass<Mode::kInverse, 10, false>(args);
}
STWO_KERNEL(fft_forward_rows, FftArgs, kFftThreads, 5) { run_pass<Mode::kForward, 0, false>(args); }
STWO_KERNEL(fft_forward_short, FftArgs, kFftThreads, 2) { run_pass<Mode::kForward, 0, true>(args); }
STWO_KERNEL(fft_forward_strided4, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kForward, 4, false>(args);
}
STWO_KERNEL(fft_forward_strided8, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kForward, 8, false>(args);
}
STWO_KERNEL(fft_forward_strided10, FftArgs, kFftWideThreads, 1) {
  run_pass<Mode::kForward, 10, false>(args);
}
STWO_KERNEL(fft_extend_rows, FftArgs, kFftThreads, 4) { run_pass<Mode::kExtend, 0, false>(args); }
STWO_KERNEL(fft_extend_short, FftArgs, kFftThreads, 2) { run_pass<Mode::kExtend, 0, true>(args); }
STWO_KERNEL(fft_extend_strided4, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kExtend, 4, false>(args);
}
STWO_KERNEL(fft_extend_strided8, FftArgs, kFftThreads, 4) {
  run_pass<Mode::kExtend, 8, false>(args);
}
STWO_KERNEL(fft_extend_strided10, FftArgs, kFftWideThreads, 1) {
  run_pass<Mode::kExtend, 10, false>(args);
}

}  // namespace stwo::gpu
