# attn-sim-probe, with which compare.py runs probes on the simulator.

add_executable(attn-sim-probe ${CMAKE_CURRENT_LIST_DIR}/sim_probe.cpp)
target_link_libraries(attn-sim-probe PRIVATE attn_sim)
target_link_options(attn-sim-probe PRIVATE -static-libstdc++)
