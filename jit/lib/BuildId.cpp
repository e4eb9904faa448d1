// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BuildId.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <elf.h>
#include <link.h>

/// The start of this library, from the linker.
extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/// Returns the id in a segment of notes, or nothing.
static llvm::ArrayRef<uint8_t> findId(const uint8_t *at, size_t size) {
  const uint8_t *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
    const uint8_t *name = at + sizeof(*note);
    const uint8_t *text = name + llvm::alignTo(note->n_namesz, 4);
    if (note->n_type == NT_GNU_BUILD_ID) {
      return {text, note->n_descsz};
    }
    at = text + llvm::alignTo(note->n_descsz, 4);
  }
  return {};
}

static std::string readBuildId() {
  auto *start = reinterpret_cast<const uint8_t *>(&__ehdr_start);
  auto *headers =
      reinterpret_cast<const ElfW(Phdr) *>(start + __ehdr_start.e_phoff);
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    if (headers[i].p_type == PT_NOTE) {
      llvm::ArrayRef<uint8_t> id =
          findId(start + headers[i].p_vaddr, headers[i].p_memsz);
      if (!id.empty()) {
        return llvm::toHex(id, /*LowerCase=*/true);
      }
    }
  }
  return "";
}

const std::string &attn::jit::getBuildId() {
  static const std::string id = readBuildId();
  return id;
}
