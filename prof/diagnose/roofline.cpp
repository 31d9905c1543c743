#include "prof/diagnose/roofline.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "prof/diagnose/text.hpp"
#include "prover/cli/terminal.hpp"

namespace prof {
namespace {

constexpr double kWidth = 800;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kRight = 780;
constexpr double kTop = 40;
constexpr double kBottom = 460;
constexpr double kLabelHeight = 15;
/// Labels longer than this would leave the picture; the full name is the point's title.
constexpr size_t kMaxLabel = 40;
/// Decades beyond which a number is damage, and a picture of it would have no end.
constexpr int kMaxDecade = 30;

std::string decimal(double value) {
  char text[64];
  const auto end =
      std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed, 2).ptr;
  return {text, end};
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : stwo::one_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// At most kMaxLabel bytes, cut between characters.
std::string short_label(const std::string& label) {
  if (label.size() <= kMaxLabel) return label;
  size_t end = kMaxLabel;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xc0) == 0x80) --end;
  return label.substr(0, end) + "...";
}

bool is_positive(double value) {
  return std::isfinite(value) && value > std::pow(10, -kMaxDecade) &&
         value < std::pow(10, kMaxDecade);
}

/// A logarithmic axis of whole decades.
struct Axis {
  int low = 0;
  int high = 0;
  double from = 0;
  double to = 0;
  double at(double value) const {
    return from + (to - from) * (std::log10(value) - low) / (high - low);
  }
};

Axis make_axis(const std::vector<double>& values, double from, double to) {
  Axis axis{0, 1, from, to};
  if (!values.empty()) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    axis.low = static_cast<int>(std::floor(std::log10(*low)));
    axis.high = std::max(axis.low + 1, static_cast<int>(std::ceil(std::log10(*high))));
  }
  return axis;
}

struct Placed {
  RooflinePoint point;
  double intensity = 0;  ///< instructions per byte
  double rate = 0;       ///< instructions per second
};

std::vector<Placed> place(const std::vector<RooflinePoint>& points) {
  std::vector<Placed> out;
  for (const RooflinePoint& p : points) {
    const Placed placed{p, p.integer_instructions / p.dram_bytes,
                        p.integer_instructions / (p.duration_ns / 1e9)};
    if (is_positive(p.dram_bytes) && is_positive(p.duration_ns) && is_positive(placed.intensity) &&
        is_positive(placed.rate)) {
      out.push_back(placed);
    }
  }
  return out;
}

class Picture {
 public:
  Picture(std::vector<Placed> points, const DevicePeaks& peaks, const std::string& id)
      : points_(std::move(points)), peaks_(peaks), id_(id) {
    std::vector<double> across;
    std::vector<double> up;
    for (const Placed& p : points_) {
      across.push_back(p.intensity);
      up.push_back(p.rate);
    }
    const auto flat = known(peaks.integer_instructions_per_s);
    if (flat) up.push_back(*flat);
    for (const auto& slope : {known(peaks.dram_bytes_per_s), known(peaks.l2_bytes_per_s)}) {
      // The ridge belongs into the picture.
      if (slope && flat && is_positive(*flat / *slope)) across.push_back(*flat / *slope);
    }
    x_ = make_axis(across, kLeft, kRight);
    y_ = make_axis(up, kBottom, kTop);
  }

  std::string svg() {
    head();
    axes();
    roofs();
    labelled_points();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  static std::optional<double> known(const std::optional<double>& value) {
    return value && is_positive(*value) ? value : std::nullopt;
  }

  void head() {
    const std::string title = id_ + "-title";
    const std::string desc = id_ + "-desc";
    out_ += "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + decimal(kWidth) + ' ' +
            decimal(kHeight) + "\" role=\"img\" aria-labelledby=\"" + title + ' ' + desc +
            "\" class=\"rl\">\n";
    out_ += "<title id=\"" + title + "\">Roofline of " +
            (peaks_.device.empty() ? "the device" : escaped(peaks_.device)) + "</title>\n";
    out_ += "<desc id=\"" + desc +
            "\">Integer instructions per second against integer "
            "instructions per DRAM byte, both logarithmic.";
    for (const Placed& p : points_) {
      out_ += ' ' + escaped(p.point.label) + ": " + number_text(p.intensity) + " per byte, " +
              number_text(p.rate) + " per second" +
              (p.point.replayed ? " under replay, no production time." : ".");
    }
    if (points_.empty()) out_ += " There is no kernel to show.";
    out_ += "</desc>\n";
  }

  void line(const char* classes, double x0, double y0, double x1, double y1) {
    out_ += std::string("<line class=\"") + classes + "\" x1=\"" + decimal(x0) + "\" y1=\"" +
            decimal(y0) + "\" x2=\"" + decimal(x1) + "\" y2=\"" + decimal(y1) + "\"/>\n";
  }

  void text(double x, double y, const char* anchor, const std::string& content) {
    out_ += "<text class=\"rl-label\" x=\"" + decimal(x) + "\" y=\"" + decimal(y) +
            "\" text-anchor=\"" + anchor + "\">" + escaped(content) + "</text>\n";
  }

  static std::string power(int exponent) {
    if (exponent >= -2 && exponent <= 3) return number_text(std::pow(10, exponent));
    return "1e" + std::to_string(exponent);
  }

  void axes() {
    // More than a dozen marks of an axis would run into each other.
    const int x_step = 1 + (x_.high - x_.low) / 12;
    const int y_step = 1 + (y_.high - y_.low) / 12;
    for (int e = x_.low; e <= x_.high; e += x_step) {
      const double x = x_.at(std::pow(10, e));
      line("rl-grid", x, kTop, x, kBottom);
      text(x, kBottom + 18, "middle", power(e));
    }
    for (int e = y_.low; e <= y_.high; e += y_step) {
      const double y = y_.at(std::pow(10, e));
      line("rl-grid", kLeft, y, kRight, y);
      text(kLeft - 8, y + 4, "end", power(e));
    }
    line("rl-axis", kLeft, kBottom, kRight, kBottom);
    line("rl-axis", kLeft, kTop, kLeft, kBottom);
    text((kLeft + kRight) / 2, kBottom + 42, "middle", "integer instructions per DRAM byte");
    text(kLeft - 60, kTop - 16, "start", "integer instructions per second");
  }

  /// rate = bytes_per_s * intensity, from the lower left up to the flat roof or the frame.
  void sloped_roof(const char* classes, const std::string& name, double bytes_per_s) {
    const auto flat = known(peaks_.integer_instructions_per_s);
    const double top = flat ? *flat : std::pow(10, y_.high);
    const double x0 = std::max(std::pow(10, x_.low), std::pow(10, y_.low) / bytes_per_s);
    const double x1 = std::min(std::pow(10, x_.high), top / bytes_per_s);
    if (x0 >= x1) return;
    line(classes, x_.at(x0), y_.at(x0 * bytes_per_s), x_.at(x1), y_.at(x1 * bytes_per_s));
    text(x_.at(x0) + 6, y_.at(x0 * bytes_per_s) - 8, "start",
         name + ' ' + quantity_text(bytes_per_s, "byte/s"));
  }

  void roofs() {
    if (const auto dram = known(peaks_.dram_bytes_per_s)) {
      sloped_roof("rl-roof rl-dram", "DRAM", *dram);
    }
    if (const auto l2 = known(peaks_.l2_bytes_per_s)) sloped_roof("rl-roof rl-l2", "L2", *l2);
    if (const auto flat = known(peaks_.integer_instructions_per_s)) {
      const double y = y_.at(*flat);
      line("rl-roof rl-integer", kLeft, y, kRight, y);
      text(kRight - 4, y - 6, "end", "integer peak " + number_text(*flat) + " per second");
    }
  }

  void labelled_points() {
    // From top to bottom, so that labels can be moved down past one another.
    std::stable_sort(points_.begin(), points_.end(),
                     [](const Placed& a, const Placed& b) { return a.rate > b.rate; });
    const std::vector<double> label_y = label_places();
    for (size_t i = 0; i < points_.size(); ++i) {
      const Placed& p = points_[i];
      const double x = x_.at(p.intensity);
      out_ += std::string("<circle class=\"rl-point") + (p.point.replayed ? " rl-replay" : "") +
              "\" cx=\"" + decimal(x) + "\" cy=\"" + decimal(y_.at(p.rate)) + "\" r=\"5\"><title>" +
              escaped(p.point.label) + "</title></circle>\n";
      const bool left = x > (kLeft + kRight) / 2;
      text(left ? x - 9 : x + 9, label_y[i], left ? "end" : "start",
           short_label(p.point.label) + (p.point.replayed ? " (replay)" : ""));
    }
  }

  /// Beside the points where there is room; else further down, and back up from the frame's end.
  std::vector<double> label_places() const {
    const double room = (kBottom - kTop) / static_cast<double>(std::max<size_t>(1, points_.size()));
    const double height = std::min(kLabelHeight, room);
    std::vector<double> out;
    double from = kTop;
    for (const Placed& p : points_) {
      out.push_back(std::max(y_.at(p.rate) + 4, from));
      from = out.back() + height;
    }
    double until = kBottom;
    for (auto it = out.rbegin(); it != out.rend(); ++it) {
      *it = std::min(*it, until);
      until = *it - height;
    }
    return out;
  }

  std::vector<Placed> points_;
  const DevicePeaks& peaks_;
  const std::string& id_;
  Axis x_;
  Axis y_;
  std::string out_;
};

}  // namespace

std::string roofline_svg(const std::vector<RooflinePoint>& points, const DevicePeaks& peaks,
                         const std::string& id) {
  return Picture(place(points), peaks, id).svg();
}

}  // namespace prof
