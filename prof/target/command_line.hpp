// Command lines as text.
#pragma once

#include <string>
#include <vector>

namespace prof {

/// As one would type it into a shell: words are quoted where they have to be.
std::string shell_line(const std::vector<std::string>& command);

}  // namespace prof
