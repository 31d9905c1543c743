# stwo_add_air(NAME
#   SCRIPT_FILE <.inc path from the repository root>
#   SCRIPTS <script class>...
#   SOURCES <files of the AIR folder>...
#   [HOST_ONLY])
#
# SCRIPT_FILE holds the script classes and is included inside namespace stwo::air, and again for each
# instruction set: code must be compiled inside a target region to use its vectors.
#
# Builds one AIR folder into the object library stwo_air_NAME: its sources, plus a generated file
# that instantiates the SIMD row kernels of every script for every instruction set. Unless HOST_ONLY is
# given, also makes the CUDA module air_NAME with the scripts' device kernels. The folder must
# define  void stwo::air::register_NAME(stwo::AirRegistry&)  which the generated registry calls.
set(STWO_AIR_TEMPLATE_DIR ${CMAKE_CURRENT_LIST_DIR})
function(stwo_add_air name)
  cmake_parse_arguments(ARG "HOST_ONLY" "SCRIPT_FILE" "SCRIPTS;SOURCES" ${ARGN})
  if(NOT ARG_SCRIPT_FILE OR NOT ARG_SCRIPTS OR NOT ARG_SOURCES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stwo_add_air(${name}): give SCRIPT_FILE, SCRIPTS and SOURCES")
  endif()
  set(STWO_AIR_SCRIPT_FILE ${ARG_SCRIPT_FILE})
  set(STWO_AIR_KERNELS_FILE ${CMAKE_CURRENT_BINARY_DIR}/${name}_row_kernels.cpp)
  set(STWO_AIR_EXPORTS "")
  set(STWO_AIR_TARGET_CODE "")
  set(STWO_AIR_DECLARATIONS "")
  set(STWO_AIR_SCRIPT_SIZES "")
  set(STWO_AIR_DEVICE_KERNELS "")
  set(index 0)
  foreach(script IN LISTS ARG_SCRIPTS)
    string(APPEND STWO_AIR_TARGET_CODE
      "void ${name}_constraints_${index}(const void* s, const ConstraintRows& rows, uint64_t begin, uint64_t end) {\n"
      "  EvaluateRows(*static_cast<const air::${script}*>(s), rows, begin, end);\n}\n"
      "void ${name}_trace_${index}(const void* s, const TraceRows& rows, uint64_t begin, uint64_t end) {\n"
      "  GenerateRows(*static_cast<const air::${script}*>(s), rows, begin, end);\n}\n"
      "constexpr size_t ${name}_bytes_${index} = sizeof(air::${script});\n")
    string(APPEND STWO_AIR_SCRIPT_SIZES
      "constexpr size_t ${name}_script_bytes_${index} = HWY_NAMESPACE::${name}_bytes_${index};\n")
    string(APPEND STWO_AIR_EXPORTS
      "HWY_EXPORT(${name}_constraints_${index});\nHWY_EXPORT(${name}_trace_${index});\n"
      "template <>\nconst RowKernels& row_kernels<air::${script}>() {\n"
      "  static const RowKernels kernels{\n"
      "      [](const void* s, const ConstraintRows& rows, uint64_t begin, uint64_t end) {\n"
      "        HWY_DYNAMIC_DISPATCH(${name}_constraints_${index})(s, rows, begin, end);\n      },\n"
      "      [](const void* s, const TraceRows& rows, uint64_t begin, uint64_t end) {\n"
      "        HWY_DYNAMIC_DISPATCH(${name}_trace_${index})(s, rows, begin, end);\n      },\n"
      "      \"${name}\", ${index}, ${name}_script_bytes_${index}};\n"
      "  return kernels;\n}\n")
    string(APPEND STWO_AIR_DECLARATIONS "struct ${script};\n")
    string(APPEND STWO_AIR_DEVICE_KERNELS
      "STWO_KERNEL(${name}_trace_${index}, TraceArgs, kAirThreads, 2) {\n"
      "  generate_rows<air::${script}>(args);\n}\n"
      "STWO_KERNEL(${name}_constraints_${index}, ConstraintArgs, kAirThreads, 2) {\n"
      "  evaluate_rows<air::${script}>(args);\n}\n")
    math(EXPR index "${index} + 1")
  endforeach()
  configure_file(${STWO_AIR_TEMPLATE_DIR}/row_kernels.cpp.in ${STWO_AIR_KERNELS_FILE} @ONLY)
  add_library(stwo_air_${name} OBJECT ${ARG_SOURCES} ${STWO_AIR_KERNELS_FILE})
  target_link_libraries(stwo_air_${name} PUBLIC stwo_options stwo_simd_options)
  set_property(GLOBAL APPEND PROPERTY STWO_AIRS ${name})
  if(NOT ARG_HOST_ONLY)
    set(device_file ${CMAKE_CURRENT_BINARY_DIR}/air_${name}.cu)
    configure_file(${STWO_AIR_TEMPLATE_DIR}/../../kernels/air/air_kernels.cu.in ${device_file} @ONLY)
    stwo_add_cuda_module(air_${name} SOURCE ${device_file})
  endif()
endfunction()
