# What find_package(attn) finds in an installation: the targets attn::runtime and,
# where the compiler was built, attn::jit.

include(CMakePackageConfigHelpers)
install(EXPORT attn NAMESPACE attn:: DESTINATION lib/cmake/attn FILE attn-config.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attn-config-version.cmake DESTINATION lib/cmake/attn)
