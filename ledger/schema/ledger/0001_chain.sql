-- What makes the ledger one history: its identity, its migrations, the hash chain over every row of
-- every table, and the artifacts the rows speak of.

-- table: Facts about this ledger itself.
CREATE TABLE meta (
  row INTEGER PRIMARY KEY,  -- order of appending
  key TEXT NOT NULL UNIQUE,  -- ledger_id (a ULID) or created_utc
  value TEXT NOT NULL  -- its value
) STRICT;

-- table: Schema versions this ledger has been brought to, and by which program.
CREATE TABLE migration (
  row INTEGER PRIMARY KEY,  -- order of appending
  version INTEGER NOT NULL UNIQUE CHECK (version > 0),  -- schema version reached
  sql_sha256 TEXT NOT NULL CHECK (length(sql_sha256) = 64),  -- digest of the SQL file that was run
  tool_version TEXT NOT NULL,  -- program that ran it
  applied_utc TEXT NOT NULL  -- when
) STRICT;

-- table: The hash chain. One entry per append; its digest covers the entry before it and the digests of all rows it appended.
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without gaps
  prev_sha256 TEXT NOT NULL UNIQUE CHECK (length(prev_sha256) = 64),  -- digest of entry seq - 1; zeros for the first
  entry_sha256 TEXT NOT NULL UNIQUE CHECK (length(entry_sha256) = 64),  -- digest of this entry
  recorded_utc TEXT NOT NULL,  -- when
  tool_version TEXT NOT NULL,  -- program that appended
  kind TEXT NOT NULL,  -- what was appended: init, migrate, product_report, experiment.new, ...
  subject TEXT NOT NULL  -- id of what was appended
) STRICT;

-- table: Rows that an entry appended, per table, with one SHA-256 per row.
CREATE TABLE entry_rows (
  row INTEGER PRIMARY KEY,  -- order of appending
  seq INTEGER NOT NULL REFERENCES entry (seq),  -- the entry
  table_name TEXT NOT NULL,  -- table the rows are in
  first_row INTEGER NOT NULL CHECK (first_row > 0),  -- first of them
  row_count INTEGER NOT NULL CHECK (row_count > 0),  -- how many, consecutive
  digests BLOB NOT NULL,  -- 32 bytes per row, in order
  UNIQUE (seq, table_name),
  UNIQUE (table_name, first_row),
  CHECK (length(digests) = 32 * row_count)
) STRICT;

-- table: Files in the content-addressed folder beside the database.
CREATE TABLE artifact (
  row INTEGER PRIMARY KEY,  -- order of appending
  sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),  -- digest of the content, and its name in the store
  kind TEXT NOT NULL,  -- product_report, plan, timeline, counters, verdict, calibration, other
  bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- size
  relpath TEXT NOT NULL UNIQUE,  -- path inside the store
  file_name TEXT NOT NULL,  -- name it had when it was added
  added_utc TEXT NOT NULL  -- when
) STRICT;
