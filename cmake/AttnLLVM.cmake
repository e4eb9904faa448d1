# The one place that knows how LLVM and MLIR are linked: statically, once, into
# libattn_jit.so.
#
# Debian's static MLIR archives name libLLVM.so in their interface. Linking it
# beside LLVM's own archives registers every option twice and dies at start,
# so that name is taken out and LLVM's components are linked as archives.

execute_process(COMMAND llvm-config-22 --prefix
                OUTPUT_VARIABLE ATTN_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "llvm-config-22 not found: run ./scripts/setup")
endif()
find_package(MLIR 22.1 CONFIG REQUIRED
             HINTS ${ATTN_LLVM_PREFIX}/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(LLVM_LINK_LLVM_DYLIB OFF)
include(AttnTables)

# Not every Linux has zlib and zstd.
function(attn_link_archive target archive)
  find_library(ATTN_${archive} ${archive} REQUIRED)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${ATTN_${archive}} IMPORTED_LOCATION_RELEASE ${ATTN_${archive}})
endfunction()
attn_link_archive(ZLIB::ZLIB libz.a)
attn_link_archive(zstd::libzstd_shared libzstd.a)

set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})

get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${imported})
  get_target_property(type ${target} TYPE)
  if(target MATCHES "^MLIR" AND type STREQUAL "STATIC_LIBRARY")
    get_target_property(libs ${target} INTERFACE_LINK_LIBRARIES)
    if(libs)
      list(REMOVE_ITEM libs LLVM)
      set_target_properties(${target} PROPERTIES
                            INTERFACE_LINK_LIBRARIES "${libs}")
    endif()
  endif()
endforeach()

llvm_map_components_to_libnames(ATTN_LLVM_LIBS
  NVPTX Core Support SupportLSP Target AsmPrinter ScalarOpts TransformUtils Analysis)
separate_arguments(ATTN_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# attn_add_library(NAME sources...): a static piece of libattn_jit.so, built
# with the project's flags and the one precompiled header, of MLIR and of the dialects.
function(attn_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC attn_mlir_flags ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM attn_pch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# attn_add_program(NAME sources... [LINK libraries...]): a program whose sources
# include MLIR's headers. It shares the precompiled header, which is compiled with
# -fPIC; for programs CMake writes -fPIE instead, which does not go with it.
function(attn_add_program name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE attn_mlir_flags ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM attn_pch)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()

# attn_add_component(NAME [PASSES GROUP] [SOURCES ...] [LINK ...]): the library of
# all sources below the current folder, which is one component. PASSES: it has the
# passes of include/attn/<folder>/Passes.td, registered by register<GROUP>Passes().
function(attn_add_component name)
  cmake_parse_arguments(ARG "" "PASSES" "SOURCES;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  attn_add_library(${name} ${sources} ${ARG_SOURCES} LINK ${ARG_LINK})
  if(ARG_PASSES)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/attn/${folder})
    include_directories(SYSTEM ${MLIR_INCLUDE_DIRS})
    include_directories(${PROJECT_SOURCE_DIR}/include)
    file(RELATIVE_PATH output ${CMAKE_CURRENT_BINARY_DIR} ${PROJECT_BINARY_DIR}/include/attn/${folder}/Passes.h.inc)
    set(LLVM_TARGET_DEFINITIONS ${PROJECT_SOURCE_DIR}/include/attn/${folder}/Passes.td)
    mlir_tablegen(${output} -gen-pass-decls -name=${ARG_PASSES})
    add_public_tablegen_target(${name}_incgen)
    add_dependencies(${name} ${name}_incgen)
  endif()
endfunction()

add_library(attn_mlir_flags INTERFACE)
target_include_directories(attn_mlir_flags SYSTEM INTERFACE
  ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(attn_mlir_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_compile_definitions(attn_mlir_flags INTERFACE ${ATTN_LLVM_DEFINITIONS})
target_compile_options(attn_mlir_flags INTERFACE
  -fno-exceptions -Wall -Wextra -Wno-unused-parameter)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch.cpp CONTENT "")
add_library(attn_pch STATIC ${CMAKE_BINARY_DIR}/pch.cpp)
target_link_libraries(attn_pch PUBLIC attn_mlir_flags)
target_precompile_headers(attn_pch PRIVATE
  ${PROJECT_SOURCE_DIR}/include/attn/support/mlir_pch.h
  ${PROJECT_SOURCE_DIR}/include/attn/dialect/Ws.h)
add_dependencies(attn_pch attn_dialect_incgen)

# Settings that a program with LLVM's code needs under the address sanitizer.
add_library(attn_sanitizer_options INTERFACE)
if(CMAKE_CXX_FLAGS MATCHES "fsanitize=address")
  target_sources(attn_sanitizer_options INTERFACE ${PROJECT_SOURCE_DIR}/tools/asan_options.c)
endif()
