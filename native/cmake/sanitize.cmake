# Sanitizers instrument the shim and, where it is built here, llama.cpp: a report from half a program is misleading.
if(NOT SPECBIND_SANITIZE)
  return()
endif()
if(MSVC)
  message(FATAL_ERROR "SPECBIND_SANITIZE needs GCC or Clang.")
endif()

add_compile_options(-fsanitize=${SPECBIND_SANITIZE} -fno-omit-frame-pointer -g1)
add_link_options(-fsanitize=${SPECBIND_SANITIZE})
