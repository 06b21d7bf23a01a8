# The shim itself: hand-written logic, generated entry points, an explicit export list.

include("${SPECBIND_GENERATED_DIR}/generated/version.cmake") # SPECBIND_LIBRARY, SPECBIND_VERSION, SPECBIND_SOVERSION
set(generated "${SPECBIND_GENERATED_DIR}/generated")

file(GLOB sources CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp" "${generated}/*.cpp" "${generated}/*.c")

add_library(shim SHARED ${sources})
target_link_libraries(shim PRIVATE llama_common_part llama ggml ggml-base)
target_include_directories(shim PRIVATE "${SPECBIND_GENERATED_DIR}/include" "${generated}" "${CMAKE_CURRENT_SOURCE_DIR}/src")
# driver_access.cpp reads two internal headers of libllama.
target_include_directories(shim SYSTEM PRIVATE "${LLAMA_DIR}/src")
string(TOUPPER "${SPECBIND_LIBRARY}_BUILD" exporting) # as the header asks for it, on Windows
target_compile_definitions(shim PRIVATE
  ${exporting} SPB_LLAMA_COMMIT="${LLAMA_COMMIT_TEXT}" SPB_LLAMA_VERSION="${LLAMA_VERSION_TEXT}" SPB_BUILD_ID="${SPECBIND_BUILD_ID}")

if(APPLE) # iOS too
  set(beside "@loader_path")
else()
  set(beside "$ORIGIN")
endif()
set_target_properties(shim PROPERTIES
  OUTPUT_NAME ${SPECBIND_LIBRARY} VERSION ${SPECBIND_VERSION} SOVERSION ${SPECBIND_SOVERSION}
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin" RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin"
  # The shim finds libllama beside itself, wherever the two are moved.
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${beside}")

set_target_properties(shim llama_common_part PROPERTIES
  C_STANDARD 99 CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

if(MSVC)
  # With /EHsc the compiler drops the barrier's catch around calls of extern "C" functions, which may throw.
  target_compile_options(shim PRIVATE /EHsc- /W4 /utf-8)
  target_compile_options(llama_common_part PRIVATE /EHsc- /utf-8)
else()
  foreach(target IN ITEMS shim llama_common_part)
    # -O2: the time of a round is spent in libllama, and what -O3 adds here is size.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections "$<$<CONFIG:Release>:-O2>")
  endforeach()
  target_compile_options(shim PRIVATE -Wall -Wextra)
endif()

if(WIN32)
  target_sources(shim PRIVATE "${generated}/exports.def")
elseif(APPLE)
  target_link_options(shim PRIVATE -Wl,-dead_strip "-Wl,-exported_symbols_list,${generated}/exports.txt")
  set_property(TARGET shim APPEND PROPERTY LINK_DEPENDS "${generated}/exports.txt")
else()
  target_link_options(shim PRIVATE -Wl,--gc-sections "-Wl,--version-script=${generated}/exports.map")
  set_property(TARGET shim APPEND PROPERTY LINK_DEPENDS "${generated}/exports.map")
  if(NOT SPECBIND_SANITIZE)
    target_link_options(shim PRIVATE -Wl,-z,defs) # a function of the spec without implementation does not link
  endif()
  add_custom_command(TARGET shim POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -DLIBRARY=$<TARGET_FILE:shim> "-DEXPORTS=${generated}/exports.txt" "-DSANITIZE=${SPECBIND_SANITIZE}"
      "-DNM=${CMAKE_NM}" "-DREADELF=${CMAKE_READELF}" "-DSTRIP=${CMAKE_STRIP}"
      -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/check_library.cmake")
endif()
