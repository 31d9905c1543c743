// Files the program writes: complete or absent, never overwriting what the user did not offer.
#pragma once

#include <string>
#include <string_view>

namespace stwo {

/// Checks a path before the work whose result goes there, so that an hour of proving is not lost to
/// a typing error. Throws RefusedError if something exists at `path` and `force` is off, or if it
/// is not a regular file; UsageError if the directory is missing or not writable.
void check_output(const std::string& path, bool force);

/// Checks a directory that will take several files. Throws UsageError if it is missing, no
/// directory or not writable.
void check_output_directory(const std::string& path);

/// Throws UsageError if two paths name the same file. Empty paths are ignored.
void check_outputs_differ(const std::string& first, const std::string& second);

/// Writes `content` to `path`: temporary file in the same directory, fsync, then a link that fails
/// if the name has been taken meanwhile (with `force`: a rename that replaces it), fsync of the
/// directory. On failure nothing is left behind. Throws like check_output, and EnvironmentError
/// when the disk is full or fails.
void write_output(const std::string& path, std::string_view content, bool force);

}  // namespace stwo
