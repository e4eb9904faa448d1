// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bundle's byte format. See attn/runtime/bundle.h.

#include "attn/runtime/bundle.h"

#include <cstdint>
#include <cstring>

using namespace attn::runtime;

namespace {

constexpr char kMagic[8] = {'A', 'T', 'T', 'N', 'B', 'N', 'D', 'L'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderSize = 32;
constexpr size_t kEntrySize = 32;
constexpr size_t kAlignment = 16;

enum SectionKind : uint32_t { kPlan = 1, kPtx = 2, kCubin = 3 };
constexpr uint32_t kMaxSections = 3;

uint64_t fnv1a(const char *data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  }
  return hash;
}

size_t alignUp(size_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

/// Appends the `bytes` low bytes of `value`, lowest first.
void putLittle(std::vector<char> &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i)));
  }
}

uint64_t getLittle(const char *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t(static_cast<unsigned char>(at[i])) << (8 * i);
  }
  return value;
}

struct Section {
  uint32_t kind;
  const char *data;
  size_t size;
};

/// One row of the table as read from a file.
struct Entry {
  uint32_t kind;
  uint32_t reserved;
  uint64_t offset;
  uint64_t size;
  uint64_t checksum;
};

Entry readEntry(const char *at) {
  return {uint32_t(getLittle(at, 4)), uint32_t(getLittle(at + 4, 4)),
          getLittle(at + 8, 8), getLittle(at + 16, 8), getLittle(at + 24, 8)};
}

std::string expected(const std::string &field, const std::string &want,
                     const std::string &got) {
  return "bundle: expected " + field + " to be " + want + ", got " + got;
}

bool expectEqual(const std::string &field, uint64_t want, uint64_t got,
                 std::string &err) {
  if (want == got) {
    return true;
  }
  err = expected(field, std::to_string(want), std::to_string(got));
  return false;
}

bool expectZeros(const char *data, size_t begin, size_t end, std::string &err) {
  for (size_t i = begin; i < end; ++i) {
    if (data[i] != 0) {
      err = expected("the padding byte at offset " + std::to_string(i), "0",
                     std::to_string(static_cast<unsigned char>(data[i])));
      return false;
    }
  }
  return true;
}

bool checkHeader(const char *data, size_t size, uint32_t &count,
                 std::string &err) {
  if (size < kHeaderSize) {
    err = expected("the file size", "at least " + std::to_string(kHeaderSize),
                   std::to_string(size));
    return false;
  }
  if (std::memcmp(data, kMagic, sizeof(kMagic)) != 0) {
    err = "bundle: expected the magic \"ATTNBNDL\", got other bytes";
    return false;
  }
  if (!expectEqual("the version", kVersion, getLittle(data + 8, 4), err) ||
      !expectEqual("the file size", getLittle(data + 16, 8), size, err)) {
    return false;
  }
  count = uint32_t(getLittle(data + 12, 4));
  if (count < 1 || count > kMaxSections) {
    err = expected("the section count", "1 to 3", std::to_string(count));
    return false;
  }
  size_t tableEnd = kHeaderSize + count * kEntrySize;
  if (size < tableEnd) {
    err = expected("the file size", "at least " + std::to_string(tableEnd),
                   std::to_string(size));
    return false;
  }
  return expectEqual("the table checksum", getLittle(data + 24, 8),
                     fnv1a(data + kHeaderSize, count * kEntrySize), err);
}

/// Checks section `index`, which must start right after `end`; moves `end` to
/// its last byte. Since the position of every section is fixed, overlaps, gaps
/// and false sizes are impossible.
bool checkEntry(const char *data, size_t size, uint32_t index,
                const Entry &entry, size_t &end, std::string &err) {
  std::string name = "section " + std::to_string(index);
  if (entry.kind < kPlan || entry.kind > kCubin) {
    err = expected(name + " kind", "1, 2 or 3", std::to_string(entry.kind));
    return false;
  }
  if (!expectEqual(name + " reserved field", 0, entry.reserved, err) ||
      !expectEqual(name + " offset", alignUp(end), entry.offset, err)) {
    return false;
  }
  uint64_t room = entry.offset <= size ? size - entry.offset : 0;
  if (entry.offset > size || entry.size > room) {
    err = expected(name + " size", "at most " + std::to_string(room),
                   std::to_string(entry.size));
    return false;
  }
  if (!expectZeros(data, end, entry.offset, err) ||
      !expectEqual(name + " checksum", entry.checksum,
                   fnv1a(data + entry.offset, entry.size), err)) {
    return false;
  }
  end = entry.offset + entry.size;
  return true;
}

void store(const Entry &entry, const char *data, Bundle &bundle) {
  const char *begin = data + entry.offset;
  switch (entry.kind) {
  case kPlan:
    bundle.plan.assign(begin, entry.size);
    break;
  case kPtx:
    bundle.ptx.assign(begin, entry.size);
    break;
  case kCubin:
    bundle.cubin.assign(begin, begin + entry.size);
    break;
  }
}

std::vector<Section> sectionsOf(const Bundle &bundle) {
  std::vector<Section> sections;
  sections.push_back({kPlan, bundle.plan.data(), bundle.plan.size()});
  if (!bundle.ptx.empty()) {
    sections.push_back({kPtx, bundle.ptx.data(), bundle.ptx.size()});
  }
  if (!bundle.cubin.empty()) {
    sections.push_back({kCubin, bundle.cubin.data(), bundle.cubin.size()});
  }
  return sections;
}

} // namespace

std::vector<char> attn::runtime::writeBundle(const Bundle &bundle) {
  std::vector<Section> sections = sectionsOf(bundle);
  std::vector<char> table;
  size_t end = kHeaderSize + sections.size() * kEntrySize;
  for (const Section &section : sections) {
    size_t offset = alignUp(end);
    putLittle(table, section.kind, 4);
    putLittle(table, 0, 4);
    putLittle(table, offset, 8);
    putLittle(table, section.size, 8);
    putLittle(table, fnv1a(section.data, section.size), 8);
    end = offset + section.size;
  }

  std::vector<char> out(kMagic, kMagic + sizeof(kMagic));
  out.reserve(end);
  putLittle(out, kVersion, 4);
  putLittle(out, sections.size(), 4);
  putLittle(out, end, 8);
  putLittle(out, fnv1a(table.data(), table.size()), 8);
  out.insert(out.end(), table.begin(), table.end());
  for (const Section &section : sections) {
    out.resize(alignUp(out.size()), 0);
    out.insert(out.end(), section.data, section.data + section.size);
  }
  return out;
}

bool attn::runtime::readBundle(const void *bytes, size_t size, Bundle &bundle,
                               std::string &err) {
  const char *data = static_cast<const char *>(bytes);
  uint32_t count = 0;
  if (!checkHeader(data, size, count, err)) {
    return false;
  }
  Bundle result;
  size_t end = kHeaderSize + count * kEntrySize;
  uint32_t lastKind = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Entry entry = readEntry(data + kHeaderSize + i * kEntrySize);
    if (!checkEntry(data, size, i, entry, end, err)) {
      return false;
    }
    if (entry.kind <= lastKind) {
      err = expected("section " + std::to_string(i) + " kind",
                     "greater than " + std::to_string(lastKind),
                     std::to_string(entry.kind));
      return false;
    }
    lastKind = entry.kind;
    store(entry, data, result);
  }
  if (!expectEqual("the end of the last section", size, end, err)) {
    return false;
  }
  if (result.plan.empty()) {
    err = "bundle: expected a plan section, got none";
    return false;
  }
  bundle = std::move(result);
  return true;
}
