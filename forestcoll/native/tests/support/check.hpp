// Checks that report what failed and where; a test is a main() that calls report() last.
#pragma once

#include <cstdlib>
#include <iostream>

namespace check {

inline int failures = 0;
inline int checks = 0;

inline void that(bool holds, const char* what, const char* file, int line) {
  ++checks;
  if (holds) return;
  ++failures;
  std::cerr << file << ":" << line << ": does not hold: " << what << "\n";
}

template <typename Error, typename Work>
void throws(Work work, const char* what, const char* file, int line) {
  bool thrown = false;
  try {
    work();
  } catch (const Error&) {
    thrown = true;
  }
  that(thrown, what, file, line);
}

inline int report() {
  std::cout << checks - failures << " of " << checks << " checks hold\n";
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define CHECK_THROWS(error, expression)                                                       \
  check::throws<error>([&] { static_cast<void>(expression); }, #expression " throws " #error, \
                       __FILE__, __LINE__)
