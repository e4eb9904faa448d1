# What find_package(attn) finds in an installation: the targets attn::runtime and,
# where the compiler was built, attn::jit.

include(CMakePackageConfigHelpers)
install(EXPORT attn NAMESPACE attn:: DESTINATION lib/cmake/attn FILE attn-config.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attn-config-version.cmake DESTINATION lib/cmake/attn)

# What runs on a machine that has no source tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION share/attn)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/test/device ${PROJECT_SOURCE_DIR}/test/probes ${PROJECT_SOURCE_DIR}/test/Inputs
        DESTINATION share/attn/test PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/test/run.py ${PROJECT_SOURCE_DIR}/test/hardware.py
              ${PROJECT_SOURCE_DIR}/test/breadth.py DESTINATION share/attn/test)
# What the device tests of the Python package import, and the page whose program they run.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/test/python DESTINATION share/attn/test
        FILES_MATCHING PATTERN package_*.py PATTERN frameworks.py PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION share/attn)
