# Unit tests of attn-run, included where its targets are made.

set(here ${CMAKE_CURRENT_LIST_DIR})

# The parts of the tool.
add_executable(attn_run_tests
  ${here}/run_check_test.cpp
  ${here}/run_dropout_test.cpp
  ${here}/run_gradients_test.cpp
  ${here}/run_inputs_test.cpp
  ${here}/run_numbers_test.cpp
  ${here}/run_options_test.cpp
  ${here}/run_problem_test.cpp
  ${here}/run_region_test.cpp
  ${here}/run_stamps_test.cpp)
target_include_directories(attn_run_tests PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(attn_run_tests PRIVATE attn_run_lib GTest::gtest_main)
add_test(NAME attn_run_tests COMMAND attn_run_tests)

# The whole tool, with a fake libcuda.so.1.
add_library(attn_fake_cuda SHARED ${here}/fake_cuda.cpp)
target_link_libraries(attn_fake_cuda PRIVATE attn_runtime_flags)
target_include_directories(attn_fake_cuda PRIVATE ${here}/../../../runtime/lib)
set_target_properties(attn_fake_cuda PROPERTIES
  PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_cuda)

add_executable(attn_run_tool_tests ${here}/run_tool_test.cpp)
target_compile_definitions(attn_run_tool_tests PRIVATE
  ATTN_RUN_PATH="$<TARGET_FILE:attn-run>"
  ATTN_FAKE_CUDA_FOLDER="$<TARGET_FILE_DIR:attn_fake_cuda>")
target_link_libraries(attn_run_tool_tests PRIVATE attn_runtime_flags attn_bundle GTest::gtest_main)
add_dependencies(attn_run_tool_tests attn-run attn_fake_cuda)
add_test(NAME attn_run_tool_tests COMMAND attn_run_tool_tests)

# One target builds them all.
add_dependencies(attn_runtime_tests attn_run_tests attn_run_tool_tests)
