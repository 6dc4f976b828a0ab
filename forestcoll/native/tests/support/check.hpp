// Checks that report what failed and where, and the tests by name that main.cpp runs.
#pragma once

#include <iostream>
#include <map>
#include <string>

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

// The tests of this executable, one for each file.
inline std::map<std::string, void (*)()>& tests() {
  static std::map<std::string, void (*)()> all;
  return all;
}

struct Registered {
  Registered(const char* name, void (*run)()) { tests().emplace(name, run); }
};

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define CHECK_THROWS(error, expression)                                                       \
  check::throws<error>([&] { static_cast<void>(expression); }, #expression " throws " #error, \
                       __FILE__, __LINE__)

// In a namespace of their own, as several files are compiled as one.
#define TESTS(name)                                 \
  namespace name##_tests {                          \
    void run();                                     \
    const check::Registered registered(#name, run); \
  }                                                 \
  void name##_tests::run()
