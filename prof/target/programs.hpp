// Where programs are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prof {

/// Something that we may execute, and no folder.
bool is_program(const std::string& path);

/// Our PATH; empty if there is none.
std::string path_variable();

/// Programs of this name in the folders of a PATH, in its order. An empty entry would be the
/// working directory, which is no place for a tool, and is left out.
std::vector<std::string> programs_in_path(const std::string& name, std::string_view path);

/// Throws UsageError TARGET_COMMAND: what the program is not, and the mend.
[[noreturn]] void not_a_program(const std::string& name, const std::string& why,
                                const std::string& mend);

/// Path of a program: as given if it has a slash, else from PATH of `environment`. Throws
/// UsageError TARGET_COMMAND.
std::string find_program(const std::string& name, const std::vector<std::string>& environment);

}  // namespace prof
