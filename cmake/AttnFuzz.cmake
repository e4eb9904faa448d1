# libFuzzer targets, with "cmake -DATTN_FUZZERS=ON" and clang. What they test is
# built with sanitizers, so that nothing else of such a build links.

option(ATTN_FUZZERS "Build the libFuzzer targets" OFF)
set(ATTN_FUZZ_CHECKS address,undefined)

# attn_fuzz_instrument(TARGET...): libraries whose code guides the fuzzer. The
# fuzzer stops at undefined behaviour as it does at a crash.
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
