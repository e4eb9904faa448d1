# Unit tests of the PTX parser and the simulator's core.

set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(attn_sim_tests
  ${here}/core_breadth_test.cpp
  ${here}/core_cluster_test.cpp
  ${here}/core_execution_test.cpp
  ${here}/core_sync_test.cpp
  ${here}/core_tensor_test.cpp
  ${here}/parser_test.cpp)
target_link_libraries(attn_sim_tests PRIVATE attn_sim GTest::gtest_main)
add_test(NAME attn_sim_tests COMMAND attn_sim_tests)
