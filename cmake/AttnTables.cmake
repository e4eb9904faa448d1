# Tables of TableGen that belong to no dialect. They need llvm-tblgen, but no library of LLVM.
find_program(LLVM_TABLEGEN_EXE llvm-tblgen-22 REQUIRED)

# attn_write_tables(OUTPUT FILE): the searchable tables of a .td file, as C++.
function(attn_write_tables output file)
  file(REAL_PATH ${LLVM_TABLEGEN_EXE} program)
  cmake_path(GET program PARENT_PATH folder)
  add_custom_command(OUTPUT ${output}
    COMMAND ${program} -gen-searchable-tables -I ${folder}/../include -I ${PROJECT_SOURCE_DIR}/include -o ${output} ${file}
    DEPENDS ${file} VERBATIM)
endfunction()
