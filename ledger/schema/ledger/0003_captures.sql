-- Instrumented evidence: timelines and counters. Their times explain, and never enter a verdict.

-- table: One capture of one run of a program.
CREATE TABLE capture (
  row INTEGER PRIMARY KEY,  -- order of appending
  capture_id TEXT NOT NULL UNIQUE CHECK (length(capture_id) = 64),  -- digest of the file
  kind TEXT NOT NULL CHECK (kind IN ('timeline', 'counters')),  -- timeline (.sptrace) or kernel counters
  artifact INTEGER NOT NULL UNIQUE REFERENCES artifact (row),  -- the file
  product INTEGER REFERENCES product (row),  -- what ran; NULL: unknown to this ledger
  environment INTEGER REFERENCES environment (row),  -- where; NULL: the capture does not say
  workload INTEGER REFERENCES workload (row),  -- on what; NULL: not one of our proofs
  run INTEGER REFERENCES run (row),  -- product report of the same process; NULL: none here
  tool TEXT NOT NULL,  -- recorder and version
  created_utc TEXT NOT NULL,  -- when
  evidence TEXT NOT NULL CHECK (evidence IN ('complete', 'incomplete', 'truncated')),  -- how far it can be trusted
  n_operations INTEGER,  -- kernels, copies and fills; NULL: counters
  n_launches INTEGER NOT NULL,  -- kernel launches
  n_requests INTEGER,  -- requests it covers; NULL: unknown
  span_ns INTEGER,  -- first to last operation; NULL: counters
  busy_ns INTEGER,  -- length of the union of device operations; NULL: counters
  n_lost INTEGER NOT NULL  -- records lost or set aside
) STRICT;
CREATE INDEX capture_workload ON capture (workload, environment);
CREATE INDEX capture_run ON capture (run);

-- table: What a capture is missing.
CREATE TABLE capture_loss (
  row INTEGER PRIMARY KEY,  -- order of appending
  capture INTEGER NOT NULL REFERENCES capture (row),  -- its capture
  kind TEXT NOT NULL,  -- kind of record
  count INTEGER NOT NULL CHECK (count >= 0),  -- how many
  UNIQUE (capture, kind)
) STRICT;

-- table: A kernel in a capture, per stage.
CREATE TABLE kernel_stat (
  row INTEGER PRIMARY KEY,  -- order of appending
  capture INTEGER NOT NULL REFERENCES capture (row),  -- its capture
  kernel TEXT NOT NULL,  -- name
  stage TEXT,  -- stage that launched it; NULL: none was open
  launches INTEGER NOT NULL CHECK (launches > 0),  -- how often
  untimed INTEGER NOT NULL,  -- launches without times; left out of the columns below
  total_ns INTEGER,  -- NULL: no launch was timed
  min_ns INTEGER,  -- NULL: no launch was timed
  median_ns INTEGER,  -- lower median; NULL: no launch was timed
  max_ns INTEGER,  -- NULL: no launch was timed
  grid TEXT NOT NULL,  -- most frequent grid, x,y,z
  block TEXT NOT NULL,  -- most frequent block, x,y,z
  dynamic_shared_bytes INTEGER NOT NULL,  -- of that launch
  registers_per_thread INTEGER  -- NULL: unknown
) STRICT;
CREATE INDEX kernel_stat_capture ON kernel_stat (capture, total_ns);

-- table: A counter of one launch.
CREATE TABLE counter (
  row INTEGER PRIMARY KEY,  -- order of appending
  capture INTEGER NOT NULL REFERENCES capture (row),  -- its capture
  kernel TEXT NOT NULL,  -- name
  stage TEXT,  -- stage that launched it; NULL: unknown
  launch INTEGER NOT NULL CHECK (launch >= 0),  -- ordinal in the capture
  metric TEXT NOT NULL,  -- the profiler's name
  value REAL,  -- NULL: not measured
  unit TEXT NOT NULL,  -- unit of the value
  reason TEXT,  -- why there is no value
  UNIQUE (capture, launch, metric),
  CHECK ((value IS NULL) = (reason IS NOT NULL))
) STRICT;
CREATE INDEX counter_metric ON counter (capture, metric, kernel);

-- table: What a capture's counters were taken to mean.
CREATE TABLE diagnosis (
  row INTEGER PRIMARY KEY,  -- order of appending
  capture INTEGER NOT NULL REFERENCES capture (row),  -- its capture
  kernel TEXT NOT NULL,  -- name
  diagnosis TEXT NOT NULL CHECK (diagnosis IN ('bandwidth', 'latency', 'compute', 'occupancy', 'launch_fragmentation', 'dependency_serialization', 'undetermined')),  -- what limits the kernel
  confidence TEXT NOT NULL CHECK (confidence IN ('high', 'low')),  -- high: at least 15 % beyond the threshold
  margin REAL,  -- distance from the threshold, as a fraction of it
  evidence_json TEXT NOT NULL CHECK (json_valid(evidence_json)),  -- values and thresholds
  missing_json TEXT NOT NULL CHECK (json_valid(missing_json)),  -- metrics it could not see
  prediction TEXT,  -- what would prove it wrong; NULL: undetermined
  UNIQUE (capture, kernel)
) STRICT;
