// A shared library that is loaded when the program runs, and its functions. Internal to prof.
#pragma once

#include <initializer_list>
#include <string>

#include "prof/nvml/known.hpp"

namespace prof {

class Library {
 public:
  /// The file the environment variable names, else `name`, found as the loader finds libraries.
  Library(const char* variable, const std::string& name);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool is_loaded() const { return handle_ != nullptr; }
  /// What was to be loaded.
  const std::string& name() const { return name_; }
  /// Why it is not loaded.
  const std::string& error() const { return error_; }

  /// The first of the symbols that exists; null if none does.
  void* find(std::initializer_list<const char*> symbols) const;
  template <class Function>
  Function* function(std::initializer_list<const char*> symbols) const {
    return reinterpret_cast<Function*>(find(symbols));
  }

 private:
  std::string name_;
  std::string error_;
  void* handle_ = nullptr;
};

}  // namespace prof
