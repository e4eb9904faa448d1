# Unit tests of the PTX parser and the simulator's core.

set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(attn_sim_tests
  ${here}/blackwell_convert_test.cpp
  ${here}/blackwell_copy_test.cpp
  ${here}/blackwell_float_test.cpp
  ${here}/blackwell_launch_test.cpp
  ${here}/blackwell_memory_test.cpp
  ${here}/core_breadth_test.cpp
  ${here}/core_cluster_test.cpp
  ${here}/core_execution_test.cpp
  ${here}/core_grid_test.cpp
  ${here}/core_sync_test.cpp
  ${here}/core_target_test.cpp
  ${here}/core_tensor_test.cpp
  ${here}/hazard_async_test.cpp
  ${here}/hazard_mbarrier_test.cpp
  ${here}/hazard_memory_test.cpp
  ${here}/hazard_register_test.cpp
  ${here}/hazard_report_test.cpp
  ${here}/parser_test.cpp
  ${here}/tensor_memory_test.cpp
  ${here}/tensor_mma_test.cpp
  ${here}/tensor_pair_test.cpp
  ${here}/tensor_scale_test.cpp)
target_link_libraries(attn_sim_tests PRIVATE attn_sim GTest::gtest_main)
add_test(NAME attn_sim_tests COMMAND attn_sim_tests)

add_executable(attn_sim_trace_tests ${here}/trace_test.cpp)
target_link_libraries(attn_sim_trace_tests PRIVATE attn_sim_trace nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(attn_sim_trace_tests PRIVATE JSON_NOEXCEPTION)
add_test(NAME attn_sim_trace_tests COMMAND attn_sim_trace_tests)
