// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into the tools of the address sanitizer's build. LLVM's libraries are
// not instrumented, so they do not unpoison memory that our code poisons.
const char *__asan_default_options(void) {
  return "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0:"
         "allocator_may_return_null=1";
}
