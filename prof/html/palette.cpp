#include "prof/html/palette.hpp"

#include <cstdio>
#include <utility>

namespace prof {
namespace {

std::string variables(const Palette& p) {
  const std::pair<const char*, uint32_t> colours[] = {
      {"page", p.page}, {"panel", p.panel},    {"text", p.text}, {"muted", p.muted},
      {"line", p.line}, {"link", p.link},      {"bar", p.bar},   {"good", p.good},
      {"bad", p.bad},   {"unknown", p.unknown}};
  std::string out = ":root{";
  for (const auto& [name, value] : colours) {
    char text[40];
    std::snprintf(text, sizeof text, "--%s:#%06x;", name, value);
    out += text;
  }
  return out + "}\n";
}

constexpr const char* kRules = R"(*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,sans-serif;
overflow-wrap:anywhere}
header,main,nav,footer{max-width:76rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .5rem}
h2{font-size:1.2rem;margin:2rem 0 .5rem}
p{margin:.5rem 0}
a{color:var(--link)}
a:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{position:static}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:1rem 0}
nav a{display:inline-block;padding:.4rem 0}
code,pre{font:.9em/1.5 ui-monospace,monospace;background:var(--panel);border-radius:4px}
code{padding:.1em .3em}
pre{padding:.6rem .8rem;white-space:pre-wrap}
dl{display:grid;grid-template-columns:minmax(9rem,max-content) 1fr;gap:.2rem 1rem;margin:.5rem 0}
dt{color:var(--muted)}
dd{margin:0}
.scroll{overflow-x:auto;margin:.75rem 0;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%;overflow-wrap:normal}
caption{text-align:left;padding:.5rem .7rem;color:var(--muted)}
th,td{padding:.3rem .7rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}
thead th{background:var(--panel);white-space:nowrap}
tbody th{font-weight:inherit}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.b{min-width:8rem;width:30%;vertical-align:middle}
.bar{display:block;height:.8rem;min-width:1px;background:var(--bar);border-radius:2px}
.note{border-left:4px solid var(--unknown);background:var(--panel);padding:.5rem .8rem;margin:.75rem 0}
.note.good{border-color:var(--good)}
.note.bad{border-color:var(--bad)}
.good{color:var(--good)}
.bad{color:var(--bad)}
.unknown{color:var(--unknown)}
.note,.note.good,.note.bad{color:var(--text)}
figure{margin:.75rem 0;overflow-x:auto}
figcaption{color:var(--muted)}
svg{max-width:100%;height:auto}
.rl-axis{stroke:var(--muted);fill:none}
.rl-roof{stroke:var(--text);fill:none}
.rl-point{stroke:var(--page);fill:var(--bar)}
.rl-label{fill:var(--text);stroke:none;font:12px system-ui,sans-serif}
footer{color:var(--muted);padding-top:1rem;padding-bottom:2rem}
@media (max-width:40rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}}
@media print{.scroll,figure{overflow:visible}nav,.skip{display:none}}
)";

}  // namespace

std::string style_sheet() {
  return ":root{color-scheme:light dark}\n" + variables(kLight) +
         "@media (prefers-color-scheme:dark){" + variables(kDark) + "}\n" + kRules;
}

}  // namespace prof
