// Writes the kernels of all cases as C++ sources into a folder; run when the tests are built.

#include <fstream>
#include <iostream>

#include "kernels/research/codegen.hpp"
#include "tests/kernels/research/research_cases.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: stwo_generate_kernels DIRECTORY\n";
    return 2;
  }
  for (const auto& c : stwo::research_cases::all_cases()) {
    std::ofstream file(std::string(argv[1]) + "/" + c.name + ".cpp");
    file << stwo::gpu::generate_constraint_kernel(c.program, {c.name, 256});
    file.close();
    if (!file) {
      std::cerr << "cannot write " << c.name << ".cpp\n";
      return 4;
    }
  }
  return 0;
}
