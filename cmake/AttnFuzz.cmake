# libFuzzer targets, with "cmake -DATTN_FUZZERS=ON" and clang. Their libraries
# are built with sanitizers, so other programs of such a build do not link.

option(ATTN_FUZZERS "Build the libFuzzer targets" OFF)
set(ATTN_FUZZ_CHECKS address,undefined)

# attn_fuzz_instrument(TARGET...): marks libraries whose code guides the fuzzer,
# which stops at undefined behaviour as it does at a crash.
function(attn_fuzz_instrument)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE
      -fsanitize=fuzzer-no-link,${ATTN_FUZZ_CHECKS} -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endforeach()
endfunction()

# attn_add_fuzzer(NAME SOURCE LIBRARY...): the program build/bin/NAME.
function(attn_add_fuzzer name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer,${ATTN_FUZZ_CHECKS} -fno-sanitize=vptr)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,${ATTN_FUZZ_CHECKS})
endfunction()
