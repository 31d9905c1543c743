#include "prover/pcs/config.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "prover/errors.hpp"

namespace stwo {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_config(text);
  } catch (const UsageError& e) {
    EXPECT_EQ(e.code(), "CONFIG");
    EXPECT_EQ(e.exit_code(), ExitCode::kUsage);
    return e.what();
  }
  return "accepted";
}

TEST(PcsConfig, Names) {
  EXPECT_EQ(parse_config("fast"), fast_config());
  EXPECT_EQ(parse_config("secure"), secure_config());
  EXPECT_EQ(fast_config().heuristic_security_bits(), 13u);
  EXPECT_EQ(secure_config().heuristic_security_bits(), 96u);
  EXPECT_EQ(secure_config().proven_security_bits(), 61u);
  EXPECT_EQ(config_name(fast_config()), "fast");
  EXPECT_EQ(config_name(secure_config()), "secure");
  EXPECT_EQ(config_name(parse_config("pow=11")), "custom");
}

TEST(PcsConfig, KeysAndDefaults) {
  const PcsConfig c = parse_config("pow=20,blowup=2,queries=35,last=3,fold=4,lift=22");
  EXPECT_EQ(c.pow_bits, 20u);
  EXPECT_EQ(c.fri, (FriConfig{2, 3, 35, 4}));
  EXPECT_EQ(c.lifting_log_size, 22u);
  PcsConfig expected = fast_config();
  expected.fri.n_queries = 9;
  EXPECT_EQ(parse_config("queries=9"), expected);
  EXPECT_EQ(parse_config("lift=none,queries=9"), expected);
}

TEST(PcsConfig, TextRoundTrip) {
  for (const char* text : {"pow=0,blowup=1,queries=1,last=0,fold=1,lift=none",
                           "pow=32,blowup=16,queries=4096,last=10,fold=16,lift=30"}) {
    EXPECT_EQ(config_to_string(parse_config(text)), text);
  }
}

TEST(PcsConfig, RangesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"pow=33", "config: pow (proof-of-work bits) is 33; it must be between 0 and 32"},
      {"blowup=0", "config: blowup (log2 of the blowup factor) is 0; it must be between 1 and 16"},
      {"blowup=17",
       "config: blowup (log2 of the blowup factor) is 17; it must be between 1 and 16"},
      {"queries=0", "config: queries (number of FRI queries) is 0; it must be between 1 and 4096"},
      {"queries=4097",
       "config: queries (number of FRI queries) is 4097; it must be between 1 and 4096"},
      {"last=11",
       "config: last (log2 of the last layer's degree bound) is 11; it must be between 0 and 10"},
      {"fold=0", "config: fold (FRI fold step) is 0; it must be between 1 and 16"},
      {"fold=17", "config: fold (FRI fold step) is 17; it must be between 1 and 16"},
      {"lift=0", "config: lift (lifting log size) is 0; it must be between 1 and 30"},
      {"lift=31", "config: lift (lifting log size) is 31; it must be between 1 and 30"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(error_of(text), message);
}

TEST(PcsConfig, BadText) {
  EXPECT_NE(error_of("quick").find("'quick' is unknown"), std::string::npos);
  EXPECT_NE(error_of("").find("is unknown"), std::string::npos);
  EXPECT_NE(error_of("pow=1,blowup").find("not of the form key=value"), std::string::npos);
  EXPECT_NE(error_of("pow=1,size=3").find("unknown key 'size'"), std::string::npos);
  EXPECT_NE(error_of("pow=1,pow=2").find("given twice"), std::string::npos);
  for (const char* text : {"pow=", "pow=x", "pow=1x", "pow=-1", "pow= 1", "pow=99999999999",
                           "pow=1.5", "queries=none"}) {
    EXPECT_NE(error_of(text).find("give a whole number"), std::string::npos) << text;
  }
}

TEST(PcsConfig, CheckConfig) {
  EXPECT_NO_THROW(check_config(fast_config()));
  PcsConfig c;
  c.fri.n_queries = 0;
  EXPECT_THROW(check_config(c), UsageError);
  c = {};
  c.lifting_log_size = 31;
  EXPECT_THROW(check_config(c), UsageError);
}

}  // namespace
}  // namespace stwo
