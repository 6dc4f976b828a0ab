// Runs the test that the first argument names.
#include <cstdlib>
#include <iostream>

#include "support/check.hpp"

int main(int count, char* arguments[]) {
  const auto test = check::tests().find(count == 2 ? arguments[1] : "");
  if (test == check::tests().end()) {
    std::cerr << "name one of these tests:";
    for (const auto& [name, run] : check::tests()) std::cerr << " " << name;
    std::cerr << "\n";
    return EXIT_FAILURE;
  }
  test->second();
  std::cout << check::checks - check::failures << " of " << check::checks << " checks hold\n";
  return check::failures == 0 && check::checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
