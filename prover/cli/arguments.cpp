#include "prover/cli/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "prover/air/air.hpp"
#include "prover/errors.hpp"

namespace stwo {
namespace {

std::string option_name(std::string parameter) {
  std::replace(parameter.begin(), parameter.end(), '_', '-');
  return "--" + parameter;
}

/// Help of one parameter over all AIRs that have it.
std::string parameter_help(const std::string& name) {
  std::string airs;
  std::string help;
  for (const auto& air : AirRegistry::global().airs()) {
    for (const AirParameter& p : air->parameters()) {
      if (p.name != name) continue;
      if (help.empty()) {
        help = p.help + ", " + std::to_string(p.min) + ".." + std::to_string(p.max);
        if (p.default_value) help += ", default " + std::to_string(*p.default_value);
      }
      airs += (airs.empty() ? "" : ", ") + std::string(air->name());
    }
  }
  return help + " [" + airs + "]";
}

}  // namespace

void StatementArguments::add_to(CLI::App& command, bool air_required) {
  std::string names;
  for (const auto& air : AirRegistry::global().airs()) {
    names += (names.empty() ? "" : ", ") + std::string(air->name());
  }
  auto* air = command.add_option("--air", air_, "AIR: " + names + " (see `stwo airs`)");
  air->option_text("NAME")->group("Statement");
  if (air_required) air->required();
  command.add_option("--channel", channel_, "transcript hash: blake2s or blake2s_m31")
      ->option_text("NAME")
      ->group("Statement");
  command
      .add_flag("--mix-config", mix_config_,
                "absorb the config into the transcript; on for anything but the crate's vectors")
      ->group("Statement");
  for (const auto& air_entry : AirRegistry::global().airs()) {
    for (const AirParameter& p : air_entry->parameters()) {
      if (options_.count(p.name) != 0) continue;
      options_[p.name] =
          command.add_option(option_name(p.name), parameters_[p.name], parameter_help(p.name))
              ->option_text("N")
              ->group("Statement");
    }
  }
}

Statement StatementArguments::statement() const {
  const Air& air = AirRegistry::global().find(air_);
  Statement s;
  s.air = air_;
  s.channel = parse_channel(channel_);
  s.mix_config = mix_config_;
  for (const auto& [name, option] : options_) {
    if (option->count() == 0) continue;
    const auto known = std::any_of(air.parameters().begin(), air.parameters().end(),
                                   [&n = name](const AirParameter& p) { return p.name == n; });
    if (!known) {
      throw UsageError("AIR_PARAMETER",
                       option_name(name) + " is not a parameter of " + air_ + "; see `stwo airs`");
    }
    s.parameters.emplace_back(name,
                              parse_number(option_name(name), parameters_.at(name), 0, UINT64_MAX));
  }
  for (const AirParameter& p : air.parameters()) {
    if (!p.default_value && options_.at(p.name)->count() == 0) {
      throw UsageError("AIR_PARAMETER", air_ + " needs " + option_name(p.name) + " (" + p.help +
                                            "); give a number between " + std::to_string(p.min) +
                                            " and " + std::to_string(p.max));
    }
  }
  return air.complete(std::move(s));
}

uint64_t parse_number(const std::string& name, const std::string& text, uint64_t min,
                      uint64_t max) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    throw UsageError("NUMBER", name + " is '" + text + "'; give a whole number between " +
                                   std::to_string(min) + " and " + std::to_string(max));
  }
  return value;
}

uint32_t parse_device(const std::string& text) {
  return static_cast<uint32_t>(parse_number("--device", text, 0, 1023));
}

uint32_t parse_sm(const std::string& text) {
  return static_cast<uint32_t>(parse_number("--sm", text, 50, 999));
}

void check_file_statement(const std::string& path, const Statement& statement) {
  const std::string name = "proof file " + path + ": statement: ";
  try {
    if (AirRegistry::global().find(statement.air).complete(statement) == statement) return;
  } catch (const UsageError& e) {
    throw FormatError("PROOF_STATEMENT", name + e.what());
  }
  throw FormatError("PROOF_STATEMENT", name + "parameters are incomplete or out of order; " +
                                           "write them in the order `stwo airs` lists them");
}

ProcessStart& process_start() {
  static ProcessStart start;
  return start;
}

uint64_t steady_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace stwo
