// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The faults that plant.py writes into the compiler, each behind a switch.
// plant.py copies this file into the planted tree and adds FAULT_COUNT.
//
// The environment decides: ATTN_FAULT is the number of the one fault that is
// active; ATTN_FAULTS_REACHED is a folder, in which each process writes the
// numbers of the faults that it came by.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace attn_fault {

constexpr int Unknown = -2;
inline int chosen = Unknown;
inline bool reached[FAULT_COUNT];

inline void writeReached() {
  std::string path = std::string(std::getenv("ATTN_FAULTS_REACHED")) + "/" +
                     std::to_string(getpid());
  // Each library with a copy of these switches adds to the file.
  if (FILE *file = std::fopen(path.c_str(), "a")) {
    for (int number = 0; number < FAULT_COUNT; ++number) {
      if (reached[number]) {
        std::fprintf(file, "%d\n", number);
      }
    }
    std::fclose(file);
  }
}

inline void readEnvironment() {
  const char *fault = std::getenv("ATTN_FAULT");
  chosen = fault ? std::atoi(fault) : -1;
  if (std::getenv("ATTN_FAULTS_REACHED")) {
    std::atexit(writeReached);
  }
}

inline bool active(int number) {
  if (chosen == Unknown) {
    readEnvironment();
  }
  reached[number] = true;
  return number == chosen;
}

} // namespace attn_fault
