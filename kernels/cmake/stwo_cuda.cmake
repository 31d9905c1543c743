# Finds the CUDA toolkit and defines how kernels are built. CMake's own CUDA language is not used:
# kernels are standalone modules, loaded at run time, and the host code needs cuda.h alone.
#
# Sets  STWO_CUDA_INCLUDE_DIR  folder of cuda.h; empty: no host code of the backend is built
#       STWO_NVCC              only with STWO_CUDA=ON
#       STWO_NVCC_VERSION      "13.0.88"

set(STWO_CUDA_ARCHS "90" CACHE STRING "SMs that kernels are compiled for, e.g. 80;90")
set(STWO_CUDA_HOST_COMPILER "" CACHE FILEPATH "Host compiler for nvcc; empty: its default")
set(STWO_CUDA_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(STWO_CUDA_CUBIN_DIR ${CMAKE_BINARY_DIR}/bin/cubins)

# The toolkit that was asked for, the one on the PATH, the one that scripts/setup cuda installs.
set(stwo_cuda_roots ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT})
find_program(stwo_nvcc_on_path nvcc NO_CACHE)
if(stwo_nvcc_on_path)
  file(REAL_PATH ${stwo_nvcc_on_path} stwo_nvcc_real)
  get_filename_component(stwo_nvcc_bin ${stwo_nvcc_real} DIRECTORY)
  get_filename_component(stwo_nvcc_root ${stwo_nvcc_bin} DIRECTORY)
  list(APPEND stwo_cuda_roots ${stwo_nvcc_root})
endif()
list(APPEND stwo_cuda_roots ${PROJECT_SOURCE_DIR}/.cache/cuda/site/nvidia/cu13 /usr/local/cuda)
find_path(STWO_CUDA_INCLUDE_DIR cuda.h HINTS ${stwo_cuda_roots}
  PATH_SUFFIXES include targets/x86_64-linux/include NO_DEFAULT_PATH)
if(NOT STWO_CUDA_INCLUDE_DIR)
  set(STWO_CUDA_INCLUDE_DIR "")
endif()

if(STWO_CUDA)
  find_program(STWO_NVCC nvcc HINTS ${stwo_cuda_roots} PATH_SUFFIXES bin NO_DEFAULT_PATH)
  if(NOT STWO_NVCC OR NOT STWO_CUDA_INCLUDE_DIR)
    message(FATAL_ERROR "STWO_CUDA=ON but no CUDA toolkit was found: run scripts/setup cuda, set "
                        "CUDAToolkit_ROOT, or configure with -DSTWO_CUDA=OFF")
  endif()
  execute_process(COMMAND ${STWO_NVCC} --version OUTPUT_VARIABLE stwo_nvcc_text
    RESULT_VARIABLE stwo_nvcc_result ERROR_VARIABLE stwo_nvcc_text)
  if(NOT stwo_nvcc_result EQUAL 0 OR NOT stwo_nvcc_text MATCHES "V([0-9]+\\.[0-9]+\\.[0-9]+)")
    message(FATAL_ERROR "${STWO_NVCC} --version failed: ${stwo_nvcc_text}")
  endif()
  set(STWO_NVCC_VERSION ${CMAKE_MATCH_1})
  if(NOT STWO_CUDA_ARCHS)
    message(FATAL_ERROR "STWO_CUDA_ARCHS is empty; give at least one SM, e.g. 90")
  endif()
  foreach(arch IN LISTS STWO_CUDA_ARCHS)
    if(NOT arch MATCHES "^[0-9]+$")
      message(FATAL_ERROR "STWO_CUDA_ARCHS: '${arch}' is no SM number such as 90")
    endif()
  endforeach()
  message(STATUS "CUDA parts: nvcc ${STWO_NVCC_VERSION} (${STWO_NVCC}), SMs ${STWO_CUDA_ARCHS}")
elseif(STWO_CUDA_INCLUDE_DIR)
  message(STATUS "CUDA kernels are not built (STWO_CUDA=OFF); host code and emulator are")
else()
  message(STATUS "CUDA parts are not built: no toolkit (scripts/setup cuda)")
endif()

# stwo_add_cuda_module(NAME SOURCE <file.cu> [INCLUDES <folder>...])
#
# One module per .cu file: NAME.sm_XX.cubin for each SM in STWO_CUDA_ARCHS and NAME.ptx for the
# lowest, into STWO_CUDA_CUBIN_DIR, and an entry in the generated manifest. Any CMakeLists.txt that
# is read before kernels/CMakeLists.txt may call it; a generated file must exist at configure time.
# The same file joins the emulator. Does nothing in builds without the toolkit.
function(stwo_add_cuda_module name)
  cmake_parse_arguments(ARG "" "SOURCE" "SOURCES;INCLUDES" ${ARGN})
  list(APPEND ARG_SOURCE ${ARG_SOURCES})
  list(LENGTH ARG_SOURCE n_sources)
  if(NOT n_sources EQUAL 1 OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stwo_add_cuda_module(${name}): give one SOURCE")
  endif()
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  set_property(GLOBAL APPEND PROPERTY STWO_CUDA_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY STWO_CUDA_MODULE_SOURCES ${source})
  set(folders "")
  foreach(folder IN LISTS ARG_INCLUDES)
    get_filename_component(folder ${folder} ABSOLUTE)
    list(APPEND folders ${folder})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY STWO_CUDA_MODULE_INCLUDES ${folders})
  set_property(GLOBAL PROPERTY STWO_CUDA_MODULE_INCLUDES_${name} ${folders})
endfunction()

# Compiles a module added by stwo_add_cuda_module. Called by kernels/CMakeLists.txt for each: CMake
# knows how a file is made only in the folder that says so, and the manifest needs all of them.
function(stwo_compile_cuda_module name source)
  set(includes -I${PROJECT_SOURCE_DIR})
  get_property(folders GLOBAL PROPERTY STWO_CUDA_MODULE_INCLUDES_${name})
  foreach(folder IN LISTS folders)
    list(APPEND includes -I${folder})
  endforeach()
  # Constexpr functions of prover/ (circle points, index arithmetic) are shared with kernels.
  set(flags -std=c++20 -O3 -lineinfo --expt-relaxed-constexpr -Werror all-warnings
    -Xcompiler -Wall,-Wextra ${includes})
  if(STWO_CUDA_HOST_COMPILER)
    list(APPEND flags -ccbin ${STWO_CUDA_HOST_COMPILER})
  endif()
  set(archs ${STWO_CUDA_ARCHS})
  list(SORT archs COMPARE NATURAL)
  list(GET archs 0 lowest)
  set(work ${CMAKE_BINARY_DIR}/kernels/modules)
  file(MAKE_DIRECTORY ${work} ${STWO_CUDA_CUBIN_DIR})
  foreach(arch IN LISTS archs ITEMS ptx)
    if(arch STREQUAL "ptx")
      set(file ${name}.ptx)
      set(target -ptx -arch=compute_${lowest})
      set(record "${name}|${lowest}|ptx|${file}")
    else()
      set(file ${name}.sm_${arch}.cubin)
      set(target -cubin -arch=sm_${arch} -Xptxas -v)
      set(record "${name}|${arch}|cubin|${file}")
    endif()
    set(output ${STWO_CUDA_CUBIN_DIR}/${file})
    # A script keeps nvcc's words: ptxas tells registers and spills there.
    add_custom_command(OUTPUT ${output} ${work}/${file}.log
      COMMAND ${CMAKE_COMMAND} -DLOG=${work}/${file}.log
              -P ${STWO_CUDA_CMAKE_DIR}/run_logged.cmake --
              ${STWO_NVCC} ${target} ${flags} -MD -MF ${work}/${file}.d -MT ${output}
              -o ${output} ${source}
      DEPENDS ${source} ${STWO_CUDA_CMAKE_DIR}/run_logged.cmake
      DEPFILE ${work}/${file}.d
      COMMENT "nvcc ${file}" VERBATIM)
    set_property(GLOBAL APPEND PROPERTY STWO_CUDA_OUTPUTS ${output})
    set_property(GLOBAL APPEND PROPERTY STWO_CUDA_RECORDS ${record})
  endforeach()
endfunction()
