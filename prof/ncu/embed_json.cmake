# prof_embed_json(<target> <symbol> <file>)
#
# Makes <file> part of <target>, as the definition of
#   extern const std::string_view <symbol>;   (namespace prof)
# A changed file makes CMake run again.
function(prof_embed_json target symbol file)
  get_filename_component(file ${file} ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  # A list separator or a bracket in the text would change what CMake hands on; HEX has neither.
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(REGEX REPLACE "(('.x..',){16})" "\\1\n    " bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
  set(content "// Generated from ${name} by prof/ncu/embed_json.cmake.
#include <string_view>

namespace prof {
namespace {
constexpr char kBytes[] = {
    ${bytes}};
}  // namespace
extern const std::string_view ${symbol};
constinit const std::string_view ${symbol}{kBytes, sizeof(kBytes)};
}  // namespace prof
")
  # An unchanged file keeps its time, and nothing is compiled again.
  file(GENERATE OUTPUT ${source} CONTENT "${content}")
  target_sources(${target} PRIVATE ${source})
endfunction()
