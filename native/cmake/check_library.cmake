# Run after each link of the shim: exports exactly the ABI, needs nothing but llama.cpp and the C and C++ runtimes, is small.
#
#   cmake -DLIBRARY=... -DEXPORTS=exports.txt -DSANITIZE= -DNM=nm -DREADELF=readelf -DSTRIP=strip -P check_library.cmake

cmake_minimum_required(VERSION 3.20)

set(MAX_STRIPPED_BYTES 500000)
set(ALLOWED_NEEDED "^(libllama|libggml|libggml-base|libstdc\\+\\+|libc\\+\\+|libc\\+\\+_shared|libgcc_s|libc|libm|libpthread|ld-linux[-a-z0-9_]*|ld-musl[-a-z0-9_]*)\\.so")
set(faults "")

function(run out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "check of the shim: `${ARGN}` failed: ${error}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Exported symbols. The list has macOS spelling, with an underscore in front.
file(STRINGS "${EXPORTS}" wanted REGEX "^_")
list(TRANSFORM wanted REPLACE "^_" "")
run(text "${NM}" -D --defined-only --format=posix "${LIBRARY}")
string(REGEX MATCHALL "[^\n]+" lines "${text}")
set(found "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ @]+)[^ ]* ([A-Za-z])" _ "${line}")
  set(name "${CMAKE_MATCH_1}")
  if(NOT CMAKE_MATCH_2 STREQUAL "A") # A: the name of a symbol version
    list(APPEND found "${name}")
  endif()
endforeach()
foreach(name IN LISTS found)
  if(NOT name IN_LIST wanted)
    string(APPEND faults "\n  exported, but not in the export list: ${name}")
  endif()
endforeach()
foreach(name IN LISTS wanted)
  if(NOT name IN_LIST found)
    string(APPEND faults "\n  in the export list, but not exported: ${name}")
  endif()
endforeach()

# Dependencies.
if(SANITIZE)
  string(REPLACE "^(" "^(libasan|libubsan|libtsan|" ALLOWED_NEEDED "${ALLOWED_NEEDED}")
endif()
run(text "${READELF}" -d "${LIBRARY}")
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]+\\]" lines "${text}")
foreach(line IN LISTS lines)
  string(REGEX REPLACE ".*\\[([^]]+)\\].*" "\\1" name "${line}")
  if(NOT name MATCHES "${ALLOWED_NEEDED}")
    string(APPEND faults "\n  needs ${name}: only llama.cpp and the C and C++ runtimes are allowed")
  endif()
endforeach()

# Size.
if(NOT SANITIZE)
  run(text "${STRIP}" -o "${LIBRARY}.stripped" "${LIBRARY}")
  file(SIZE "${LIBRARY}.stripped" size)
  file(REMOVE "${LIBRARY}.stripped")
  if(size GREATER MAX_STRIPPED_BYTES)
    string(APPEND faults "\n  is ${size} bytes when stripped: more than ${MAX_STRIPPED_BYTES}")
  endif()
endif()

if(faults)
  file(REMOVE "${LIBRARY}")
  message(FATAL_ERROR "The shim breaks a rule of its ABI. ${LIBRARY}${faults}")
endif()
