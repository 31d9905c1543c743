// What an action throws.
#pragma once

#include <functional>
#include <string>

#include "prover/errors.hpp"

namespace stwo::test {

/// Code of the error, "nothing" without one; its message goes to `message` if that is given.
inline std::string code_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  return "nothing";
}

}  // namespace stwo::test
