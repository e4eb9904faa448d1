# attn_embed_data(OUT folder): generates a C++ source that holds every file below
# `folder`, and names it in OUT. Adding a file needs no other change. Run as a
# script (cmake -DFOLDER= -DOUTPUT= -P) this file is the generator.

if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
  list(SORT files)
  set(arrays "")
  set(table "")
  set(index 0)
  foreach(file ${files})
    file(READ ${FOLDER}/${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "const unsigned char file${index}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${file}\", text(file${index})},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "// Generated from passes/schedule/data.
#include \"attn/passes/schedule/EmbeddedData.h\"

namespace {
template <size_t n> llvm::StringRef text(const unsigned char (&bytes)[n]) {
  return llvm::StringRef(reinterpret_cast<const char *>(bytes), n - 1);
}
${arrays}} // namespace

llvm::ArrayRef<attn::EmbeddedFile> attn::embeddedFiles() {
  static const EmbeddedFile files[] = {
${table}  };
  return files;
}
")
  return()
endif()

set(ATTN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(attn_embed_data out folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/EmbeddedFiles.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${source} -P ${ATTN_EMBED_SCRIPT}
    DEPENDS ${files} ${ATTN_EMBED_SCRIPT}
    COMMENT "Embedding ${folder}" VERBATIM)
  set(${out} ${source} PARENT_SCOPE)
endfunction()
