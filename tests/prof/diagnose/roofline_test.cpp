#include "prof/diagnose/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/prof/diagnose/samples.hpp"

namespace prof::test {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Every tag is closed, in order.
bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const size_t end = svg.find('>', at);
    if (end == std::string::npos) return false;
    if (svg[end - 1] == '/') continue;
    const std::string tag = svg.substr(at + 1, svg.find_first_of(" >", at) - at - 1);
    if (tag[0] != '/') {
      open.push_back(tag);
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

/// An attribute of the first tag with `mark`, as a number.
double attribute(const std::string& svg, const std::string& mark, const std::string& name) {
  const size_t at = svg.find(mark);
  const size_t value = svg.find(' ' + name + "=\"", at);
  EXPECT_NE(value, std::string::npos) << mark << ' ' << name;
  return std::stod(svg.substr(value + name.size() + 3));
}

const DevicePeaks kPeaks = {"Synthetic <device>", 1e12, 4e12, 1e13};

TEST(Roofline, PointsStandWhereTheirNumbersSay) {
  // 1e9 instructions on 1e9 bytes in 1 ms: intensity 1, rate 1e12. The ridges at 10 and 2.5 and
  // the flat roof at 1e13 make axes of one decade each: 1 to 10, and 1e12 to 1e13.
  const std::string svg = roofline_svg({{"k", 1e9, 1e9, 1e6, false}}, kPeaks);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-point", "cx"), 80);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-point", "cy"), 460);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-roof rl-dram", "x1"), 80);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-roof rl-dram", "y1"), 460);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-roof rl-dram", "x2"), 780);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-roof rl-dram", "y2"), 40);
  // L2: 4e12 at intensity 1 is log10(4) of the way up; it meets the flat roof at 2.5.
  EXPECT_NEAR(attribute(svg, "rl-roof rl-l2", "y1"), 460 - 420 * std::log10(4), 0.01);
  EXPECT_NEAR(attribute(svg, "rl-roof rl-l2", "x2"), 80 + 700 * std::log10(2.5), 0.01);
  EXPECT_DOUBLE_EQ(attribute(svg, "rl-roof rl-integer", "y1"), 40);
}

TEST(Roofline, IsReadableWithoutAStyleAndByEar) {
  const std::string svg = roofline_svg(
      {{"a<b & \"c\"", 1e9, 2e9, 1e6, true}, {"d", 1e8, 1e9, 1e6, false}}, kPeaks, "page-2");
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_NE(svg.find("role=\"img\" aria-labelledby=\"page-2-title page-2-desc\""),
            std::string::npos);
  EXPECT_NE(svg.find("<title id=\"page-2-title\">Roofline of Synthetic &lt;device&gt;</title>"),
            std::string::npos);
  EXPECT_NE(svg.find("a&lt;b &amp; &quot;c&quot;: 2 per byte"), std::string::npos);
  EXPECT_NE(svg.find("no production time"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"rl-point"), 2U);
  EXPECT_EQ(count(svg, "rl-replay"), 1U);
  EXPECT_EQ(count(svg, "(replay)"), 1U);
  for (const char* colour : {"fill=", "stroke=", "style=", "#"}) {
    EXPECT_EQ(count(svg, colour), 0U) << colour;
  }
  EXPECT_EQ(svg, roofline_svg({{"a<b & \"c\"", 1e9, 2e9, 1e6, true}, {"d", 1e8, 1e9, 1e6, false}},
                              kPeaks, "page-2"));
}

TEST(Roofline, DrawsWhatIsKnown) {
  const std::string bare = roofline_svg({}, {});
  EXPECT_TRUE(is_well_formed(bare));
  EXPECT_EQ(count(bare, "rl-roof"), 0U);
  EXPECT_NE(bare.find("There is no kernel to show."), std::string::npos);
  const std::string one = roofline_svg({{"k", 1e9, 1e9, 1e6, false}}, {"", 1e12, {}, {}});
  EXPECT_EQ(count(one, "rl-roof"), 1U);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::string odd = roofline_svg({{"k", 0, 1, 1, false},
                                        {"k", 1, -1, 1, false},
                                        {"k", 1, 1, 0, false},
                                        {"k", nan, 1, 1, false},
                                        {"k", 1, inf, 1, false},
                                        {"k", 5e-324, 1e308, 1, false}},
                                       {"", nan, inf, -1});
  EXPECT_TRUE(is_well_formed(odd));
  EXPECT_EQ(count(odd, "rl-point"), 0U);
  EXPECT_EQ(count(odd, "nan") + count(odd, "inf"), 0U);
}

TEST(Roofline, LabelsDoNotCover) {
  std::vector<RooflinePoint> points;
  for (int i = 0; i < 20; ++i) points.push_back({"k" + std::to_string(i), 1e9, 1e9, 1e6, false});
  const std::string svg = roofline_svg(points, kPeaks);
  std::vector<double> places;
  for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) {
    places.push_back(attribute(svg.substr(at), "rl-label", "y"));
  }
  ASSERT_EQ(places.size(), 20U);
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_GE(places[i], 40);
    EXPECT_LE(places[i], 460);
    if (i > 0) {
      EXPECT_GE(places[i] - places[i - 1], 14.9);
    }
  }
}

TEST(Roofline, LongNamesAreCutBetweenCharacters) {
  const std::string name = std::string(39, 'x') + "\xc3\xa4" + std::string(60, 'y');
  const std::string svg = roofline_svg({{name, 1e9, 1e9, 1e6, false}}, kPeaks);
  EXPECT_NE(svg.find(">" + std::string(39, 'x') + "...</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>" + name + "</title>"), std::string::npos);
}

TEST(Roofline, PointOfAKernel) {
  Case c;
  c.set("integer_instructions", 3e9);
  PointOrReason p = roofline_point(c.counters, &c.timeline);
  ASSERT_TRUE(p.point.has_value());
  EXPECT_EQ(p.point->dram_bytes, 1.5e9);
  EXPECT_EQ(p.point->integer_instructions, 3e9);
  EXPECT_EQ(p.point->duration_ns, 100000);
  EXPECT_FALSE(p.point->replayed);
  p = roofline_point(c.counters, nullptr);
  ASSERT_TRUE(p.point.has_value());
  EXPECT_EQ(p.point->duration_ns, 102400);
  EXPECT_TRUE(p.point->replayed);
  const auto reason = [](Case kernel) { return roofline_point(kernel.counters, nullptr).reason; };
  EXPECT_EQ(reason(Case(c).drop("replay_duration")),
            "gpu__time_duration.sum: \"n/a\" in the report");
  EXPECT_EQ(reason(Case(c).drop("dram_write")), "dram__bytes_write.sum: \"n/a\" in the report");
  EXPECT_EQ(reason(Case(c).set("dram_read", 0).set("dram_write", 0)), "it moves no DRAM bytes");
  EXPECT_EQ(reason(Case(c).set("integer_instructions", 0)), "it executes no integer instructions");
}

}  // namespace
}  // namespace prof::test
