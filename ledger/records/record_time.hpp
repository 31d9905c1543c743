// Times and derived ids of records. Internal to the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ledger {

/// Milliseconds since 1970 of "2026-01-31T12:00:00.123Z"; nothing: it is no such time.
std::optional<int64_t> utc_milliseconds(std::string_view text);
/// The text of a time. `ms` must be between the years 1970 and 9999.
std::string utc_text(int64_t ms);

/// A time for the next row of a record: now, but after `last`, whatever the clock says. Rows of one
/// record are ordered by their times; a merge relies on it.
std::string time_after(std::string_view last);

/// A ULID that is the same wherever it is made: its time is `ms`, its random part the beginning of
/// SHA-256(`content`).
std::string derived_ulid(int64_t ms, std::string_view content);
/// The milliseconds in a ULID.
int64_t ulid_milliseconds(std::string_view ulid);

}  // namespace ledger
