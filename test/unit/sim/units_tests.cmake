# Unit tests of the simulator's pure parts.

set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(attn_sim_units_tests
  ${here}/units_approx_test.cpp
  ${here}/units_f32_math_test.cpp
  ${here}/units_float_format_test.cpp
  ${here}/units_int_math_test.cpp
  ${here}/units_mbarrier_test.cpp
  ${here}/units_tensor_map_test.cpp
  ${here}/units_tma_test.cpp
  ${here}/units_warp_ops_test.cpp
  ${here}/units_wgmma_operand_test.cpp
  ${here}/units_wgmma_test.cpp)
target_compile_options(attn_sim_units_tests PRIVATE -Wall -Wextra -Werror)
target_compile_definitions(attn_sim_units_tests PRIVATE ATTN_SIM_TEST_INPUTS="${here}/Inputs")
target_link_libraries(attn_sim_units_tests PRIVATE attn_sim_units GTest::gtest_main)
add_test(NAME attn_sim_units_tests COMMAND attn_sim_units_tests)
