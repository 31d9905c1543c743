# cmake -DRECORDS=<file> -DCUBINS=<folder> -DLOGS=<folder> -DNVCC_VERSION=<v> -DARCHS=<list, commas>
#       -DOUTPUT=<cubin_manifest.cpp> -DRESOURCES=<resources.json> -P make_manifest.cmake
#
# Writes the manifest that is compiled into the binary, and what ptxas says each kernel takes.
# RECORDS has one line "module|sm|cubin or ptx|file" per built file.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${RECORDS} records)
set(entries "")
set(resources "")
foreach(record IN LISTS records)
  string(REPLACE "|" ";" record "${record}")
  list(GET record 0 module)
  list(GET record 1 sm)
  list(GET record 2 kind)
  list(GET record 3 file)
  file(SIZE ${CUBINS}/${file} bytes)
  file(SHA256 ${CUBINS}/${file} digest)
  set(kernels "")
  if(kind STREQUAL "cubin")
    set(enum kCubin)
    # ptxas names an entry function, then the properties of it and of functions it calls.
    file(STRINGS ${LOGS}/${file}.log lines)
    set(kernel "")
    foreach(line IN LISTS lines ITEMS "Compiling entry function '' for")
      if(line MATCHES "Compiling entry function '([A-Za-z0-9_]*)' for")
        set(next "${CMAKE_MATCH_1}")
        if(NOT kernel STREQUAL "")
          list(APPEND resources "  {\"module\": \"${module}\", \"kernel\": \"${kernel}\", \"sm\": ${sm}, \"registers\": ${registers}, \"stack_bytes\": ${stack}, \"spill_store_bytes\": ${stores}, \"spill_load_bytes\": ${loads}, \"static_shared_bytes\": ${shared}}")
          string(APPEND kernels "\"${kernel}\", ")
        endif()
        set(kernel "${next}")
        set(registers 0)
        set(stack 0)
        set(stores 0)
        set(loads 0)
        set(shared 0)
      elseif(line MATCHES "([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads")
        math(EXPR stack "${stack} + ${CMAKE_MATCH_1}")
        math(EXPR stores "${stores} + ${CMAKE_MATCH_2}")
        math(EXPR loads "${loads} + ${CMAKE_MATCH_3}")
      elseif(line MATCHES "Used ([0-9]+) registers")
        set(registers ${CMAKE_MATCH_1})
        if(line MATCHES "([0-9]+) bytes smem")
          set(shared ${CMAKE_MATCH_1})
        endif()
      endif()
    endforeach()
    if(kernels STREQUAL "")
      message(FATAL_ERROR "${file}: the log of ptxas names no kernel")
    endif()
    set(kernels_of_${module} "${kernels}")
  else()
    set(enum kPtx)
    # Records of a module's cubins come first.
    set(kernels "${kernels_of_${module}}")
  endif()
  string(APPEND entries "      {\"${module}\", ${sm}, ModuleKind::${enum}, ${bytes},\n       \"${digest}\",\n       \"${file}\",\n       {${kernels}}},\n")
endforeach()
string(REPLACE "," ";" archs "${ARCHS}")
file(WRITE ${OUTPUT} "// Generated at build time from the compiled kernels.
#include \"kernels/runtime/modules.hpp\"

namespace stwo::gpu {

const CubinManifest& built_in_cubin_manifest() {
  static const CubinManifest manifest{{
${entries}  }, \"${NVCC_VERSION}\", \"${archs}\"};
  return manifest;
}

}  // namespace stwo::gpu
")
list(JOIN resources ",\n" resources)
file(WRITE ${RESOURCES} "[\n${resources}\n]\n")
