# Writes OUTPUT, a list of C++ definitions that says which source a build is made from. Runs at every
# build, so that it is right after each commit; the file changes, and one source is compiled again,
# only when the answer does.
#   cmake -DSOURCE_DIR=... -DOUTPUT=... -P build_info.cmake
# Takes no lock in the repository: builds must not disturb whoever works in it.

set(commit "")
set(tree "")
set(dirty "")
set(dirty_sha256 "")

function(run_git out)
  execute_process(
    COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} ${ARGN}
    OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    set(text "")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

find_program(GIT git)
if(GIT)
  run_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${SOURCE_DIR}" here)
  # An unpacked archive inside somebody else's checkout is not that checkout's commit.
  if(top STREQUAL here)
    run_git(commit rev-parse --verify HEAD)
  endif()
endif()

if(commit)
  run_git(tree rev-parse --verify "HEAD^{tree}")
  run_git(changes status --porcelain=v1 --untracked-files=all)
  if(changes STREQUAL "")
    set(dirty "false")
  else()
    set(dirty "true")
    # Names the difference to the commit: the diff of tracked files and the untracked files' contents.
    run_git(diff diff HEAD --binary --no-color --no-ext-diff)
    string(SHA256 digest "${diff}")
    set(listing "diff ${digest}\n")
    run_git(untracked -c core.quotePath=false ls-files --others --exclude-standard)
    string(REPLACE ";" "\\;" untracked "${untracked}")
    string(REPLACE "\n" ";" untracked "${untracked}")
    foreach(file IN LISTS untracked)
      if(EXISTS "${SOURCE_DIR}/${file}" AND NOT IS_DIRECTORY "${SOURCE_DIR}/${file}")
        file(SHA256 "${SOURCE_DIR}/${file}" digest)
        string(APPEND listing "${digest} ${file}\n")
      endif()
    endforeach()
    string(SHA256 dirty_sha256 "${listing}")
  endif()
endif()

set(content "// Generated at build time by prover/cli/build_info.cmake.
constexpr const char* kSourceCommit = \"${commit}\";
constexpr const char* kSourceTree = \"${tree}\";
constexpr const char* kSourceDirty = \"${dirty}\";
constexpr const char* kSourceDirtySha256 = \"${dirty_sha256}\";
")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT content STREQUAL old)
  file(WRITE "${OUTPUT}" "${content}")
endif()
