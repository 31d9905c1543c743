// The rule engine by itself: free keys, and tables that are wrong.
#include "ledger/documents/schema.hpp"

#include <gtest/gtest.h>

#include "prover/errors.hpp"

namespace ledger::documents {
namespace {

std::vector<std::string> problems(const DocumentSchema& schema, const char* text) {
  Problems found;
  schema.check(Json::parse(text), found);
  std::vector<std::string> out;
  for (const Problem& p : found.take()) out.push_back(p.code + ' ' + p.path + ": " + p.message);
  return out;
}
using List = std::vector<std::string>;

TEST(DocumentSchema, FreeKeys) {
  constexpr Rule kRules[] = {object("/sizes"), uint("/sizes/*", 1, 9), boolean("/sizes/fixed")};
  const DocumentSchema schema(kRules);
  EXPECT_EQ(problems(schema, R"({"sizes":{"fixed":true}})"), List{});
  EXPECT_EQ(problems(schema, R"({"sizes":{"fixed":true,"a":1,"*":9}})"), List{});
  EXPECT_EQ(problems(schema, R"({"sizes":{"a/b":10,"c":true}})"),
            (List{"DOCUMENT_VALUE /sizes/a~1b: expected a whole number from 1 to 9, found 10",
                  "DOCUMENT_TYPE /sizes/c: expected a whole number from 1 to 9, found true",
                  "DOCUMENT_KEY_MISSING /sizes/fixed: this key is missing; expected true or "
                  "false"}));
}

TEST(DocumentSchema, MessagesSayWhatWasExpectedAndFound) {
  static constexpr std::string_view kColours[] = {"red", "blue"};
  constexpr Rule kRules[] = {nullable(choice("/colour", kColours)), array("/pair", 2, 2),
                             real("/pair/*"), array("/some", 1), text("/some/*")};
  const DocumentSchema schema(kRules);
  EXPECT_EQ(problems(schema, R"({"colour":null,"pair":[1,2.5],"some":[""]})"), List{});
  EXPECT_EQ(
      problems(schema, R"({"colour":"\u001b[1m\"","pair":[1],"some":[],"more":[]})"),
      (List{R"(DOCUMENT_VALUE /colour: expected one of red, blue, or null, found "\u001b[1m\"")",
            "DOCUMENT_KEY_UNKNOWN /more: this key is not part of the schema; expected colour, "
            "pair, some",
            "DOCUMENT_VALUE /pair: expected 2 elements, found 1",
            "DOCUMENT_VALUE /some: expected at least 1 elements, found 0"}));
}

TEST(DocumentSchema, RefusesBrokenTables) {
  constexpr Rule kOrphan[] = {text("/a/b")};
  EXPECT_THROW(DocumentSchema{kOrphan}, stwo::ContractError);
  constexpr Rule kTwice[] = {text("/a"), text("/a")};
  EXPECT_THROW(DocumentSchema{kTwice}, stwo::ContractError);
  constexpr Rule kNoPath[] = {text("a")};
  EXPECT_THROW(DocumentSchema{kNoPath}, stwo::ContractError);
  constexpr Rule kFine[] = {object("/a")};
  EXPECT_THROW(DocumentSchema(kFine).add("/b", kFine), stwo::ContractError);
}

}  // namespace
}  // namespace ledger::documents
