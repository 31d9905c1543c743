#include "prof/cupti/find_cupti.hpp"

#include "tests/ledger/trace/trace_files.hpp"

namespace prof {
namespace {

using ledger::test::failure_of;
using ledger::test::TemporaryFolder;
using ledger::test::write_file;

TEST(CuptiVersion, FitsByMajorAndMinor) {
  EXPECT_EQ(cupti_fit(130001, 130001), CuptiFit::kExact);
  EXPECT_EQ(cupti_fit(130000, 130001), CuptiFit::kExact);
  EXPECT_EQ(cupti_fit(130100, 130001), CuptiFit::kNewer);
  EXPECT_EQ(cupti_fit(130001, 130200), CuptiFit::kOlder);
  EXPECT_EQ(cupti_fit(140000, 130001), CuptiFit::kOtherMajor);
  EXPECT_EQ(cupti_fit(24, 130001), CuptiFit::kOtherMajor);
  EXPECT_TRUE(is_usable(CuptiFit::kNewer));
  EXPECT_FALSE(is_usable(CuptiFit::kOlder));
  EXPECT_FALSE(is_usable(CuptiFit::kOtherMajor));
  EXPECT_EQ(cupti_version_text(130102), "13.1.2");
}

TEST(FindCupti, NothingToFindListsThePlaces) {
  const TemporaryFolder folder;
  CuptiPlaces places;
  places.loader = false;
  places.folders = {folder.file("a"), folder.file("b")};
  const CuptiSearch search = find_cupti(places);
  EXPECT_FALSE(search.found);
  ASSERT_EQ(search.tried.size(), 2U);
  EXPECT_EQ(search.tried[0].rfind(folder.file("a/libcupti.so.13"), 0), 0U);
  const auto failure = failure_of([&] { require_cupti(search); });
  if (built_cupti_version()) {
    EXPECT_EQ(failure.code, "CUPTI_MISSING");
    EXPECT_NE(failure.message.find(folder.file("b/libcupti.so.13")), std::string::npos);
  } else {
    EXPECT_EQ(failure.code, "CUPTI_VERSION");
  }
}

TEST(FindCupti, AFileThatIsNoLibraryIsSaidToBeNone) {
  const TemporaryFolder folder;
  write_file(folder.file("libcupti.so.13"), "not ELF");
  CuptiPlaces places;
  places.file = folder.file("libcupti.so.13");
  const CuptiSearch search = find_cupti(places);
  EXPECT_FALSE(search.found);
  ASSERT_EQ(search.tried.size(), 1U);
  EXPECT_NE(search.tried[0].find(places.file), std::string::npos);
}

TEST(FindCupti, ALibraryWithoutItsVersionIsNotCupti) {
  CuptiPlaces places;
  places.file = "libm.so.6";
  const CuptiSearch search = find_cupti(places);
  EXPECT_FALSE(search.found);
  EXPECT_EQ(search.tried, std::vector<std::string>{"libm.so.6: not CUPTI (it has no version)"});
}

TEST(FindCupti, AVersionThatDoesNotFitIsFoundAndRefused) {
  if (!built_cupti_version()) GTEST_SKIP() << "built without CUPTI's header";
  CuptiSearch search;
  search.found = CuptiLibrary{"/x/libcupti.so.13", 120600, CuptiFit::kOtherMajor};
  const auto failure = failure_of([&] { require_cupti(search); });
  EXPECT_EQ(failure.code, "CUPTI_VERSION");
  EXPECT_NE(failure.message.find("12.6.0"), std::string::npos);
  search.found->fit = CuptiFit::kExact;
  EXPECT_EQ(require_cupti(search).path, "/x/libcupti.so.13");
}

#ifdef TEST_FAKE_CUPTI
TEST(FindCupti, FindsALibraryInAFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(TEST_FAKE_CUPTI, folder.file("libcupti.so.13"));
  CuptiPlaces places;
  places.loader = false;
  places.folders = {"/nowhere", folder.file("")};
  const CuptiSearch search = find_cupti(places);
  ASSERT_TRUE(search.found);
  // The file itself, not the link.
  EXPECT_EQ(search.found->path, std::filesystem::canonical(TEST_FAKE_CUPTI));
  EXPECT_EQ(search.found->fit, CuptiFit::kExact);
  EXPECT_EQ(search.found->version, *built_cupti_version());
}
#endif

}  // namespace
}  // namespace prof
