# The packages that find_package(attn) and pkg-config find in an installation: attn::runtime
# and attn-runtime; attn::jit and attn-jit if the compiler was built.

include(CMakePackageConfigHelpers)
install(EXPORT attn NAMESPACE attn:: DESTINATION lib/cmake/attn FILE attn-config.cmake)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attn-config-version.cmake DESTINATION lib/cmake/attn)

function(attn_install_pc name library requires description)
  set(ATTN_PC_NAME ${name})
  set(ATTN_PC_LIBRARY ${library})
  set(ATTN_PC_REQUIRES ${requires})
  set(ATTN_PC_DESCRIPTION ${description})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attn.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION lib/pkgconfig)
endfunction()
attn_install_pc(attn-runtime attn_runtime "" "Launches attention kernels on Hopper GPUs and on a simulator")
if(ATTN_BUILD_COMPILER)
  attn_install_pc(attn-jit attn_jit attn-runtime "Compiles attention for Hopper GPUs")
endif()

# Programs for machines without a source tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION share/attn)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/test/device ${PROJECT_SOURCE_DIR}/test/probes ${PROJECT_SOURCE_DIR}/test/Inputs
        DESTINATION share/attn/test PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/test/run.py ${PROJECT_SOURCE_DIR}/test/hardware.py
              ${PROJECT_SOURCE_DIR}/test/breadth.py DESTINATION share/attn/test)
# Files that the device tests of the Python package import, and the page whose program they run.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/test/python DESTINATION share/attn/test
        FILES_MATCHING PATTERN package_*.py PATTERN frameworks.py PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/attn)
# The pages, and the headers that they link to.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/attn
        FILES_MATCHING PATTERN *.md PATTERN *.svg)
file(CREATE_LINK ../../include ${PROJECT_BINARY_DIR}/include-link SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/include-link DESTINATION share/attn RENAME include)
