// Contrast of the pages' colours, by WCAG's formula.
#include "prof/html/palette.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace prof {
namespace {

/// Relative luminance, WCAG 2.1.
double luminance(uint32_t colour) {
  const auto channel = [&](int shift) {
    const double c = static_cast<double>((colour >> shift) & 0xffU) / 255;
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
}

double contrast(uint32_t a, uint32_t b) {
  const double la = luminance(a);
  const double lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

TEST(PaletteContrast, FormulaKnowsTheExtremes) {
  EXPECT_NEAR(contrast(0x000000, 0xffffff), 21, 1e-9);
  EXPECT_NEAR(contrast(0x777777, 0xffffff), 4.48, 0.005);  // the well-known grey that just fails
}

TEST(PaletteContrast, TextAndBars) {
  for (const Palette& p : {kLight, kDark}) {
    for (const uint32_t background : {p.page, p.panel}) {
      for (const uint32_t text : {p.text, p.muted, p.link, p.good, p.bad, p.unknown}) {
        EXPECT_GE(contrast(text, background), 4.5) << std::hex << text << " on " << background;
      }
    }
    EXPECT_GE(contrast(p.bar, p.page), 3);
  }
}

TEST(PaletteContrast, SheetHasBoth) {
  const std::string sheet = style_sheet();
  EXPECT_NE(sheet.find("--text:#1a1f27;"), std::string::npos);
  EXPECT_NE(sheet.find("@media (prefers-color-scheme:dark){:root{--page:#14171c;"),
            std::string::npos);
  for (const char* name : {".rl-axis{", ".rl-roof{", ".rl-point{", ".rl-label{"}) {
    EXPECT_NE(sheet.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(std::count(sheet.begin(), sheet.end(), '{'),
            std::count(sheet.begin(), sheet.end(), '}'));
}

}  // namespace
}  // namespace prof
