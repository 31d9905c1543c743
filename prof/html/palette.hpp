// Colours of the pages. Text on its background has a contrast of at least 4.5 to 1, lines and bars
// of at least 3 to 1 (WCAG 2.1, AA); a test computes it.
#pragma once

#include <cstdint>
#include <string>

namespace prof {

/// 0xRRGGBB.
struct Palette {
  uint32_t page;
  uint32_t panel;  ///< behind tables' heads, code and notes
  uint32_t text;
  uint32_t muted;
  uint32_t line;  ///< borders that carry no meaning
  uint32_t link;
  uint32_t bar;
  uint32_t good;
  uint32_t bad;
  uint32_t unknown;
};

inline constexpr Palette kLight = {0xffffff, 0xf3f4f6, 0x1a1f27, 0x515b68, 0xd5d9df,
                                   0x0a56b5, 0x2f6fbf, 0x14692f, 0xb3201b, 0x75520a};
inline constexpr Palette kDark = {0x14171c, 0x1e232b, 0xe7eaee, 0xa9b3bf, 0x3a424d,
                                  0x82b4ff, 0x5b93d9, 0x71cf8b, 0xff938a, 0xe3b64f};

/// The pages' style sheet, for both.
std::string style_sheet();

}  // namespace prof
