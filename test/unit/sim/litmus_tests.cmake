# The litmus kernels of test/sim/litmus, on the simulator.

set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(attn_sim_litmus_tests
  ${here}/litmus_file.cpp
  ${here}/litmus_test.cpp)
target_compile_definitions(attn_sim_litmus_tests PRIVATE
  ATTN_LITMUS_FOLDER="${here}/../../sim/litmus")
target_link_libraries(attn_sim_litmus_tests PRIVATE attn_sim GTest::gtest_main)
add_test(NAME attn_sim_litmus_tests COMMAND attn_sim_litmus_tests)
