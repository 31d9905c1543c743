-- What the judge said, from uninstrumented sessions.

-- table: A verdict document of the judge. A correction names the verdict it supersedes; the tip counts.
CREATE TABLE verdict (
  row INTEGER PRIMARY KEY,  -- order of appending
  verdict_id TEXT NOT NULL UNIQUE CHECK (length(verdict_id) = 64),  -- digest of the document
  supersedes INTEGER UNIQUE REFERENCES verdict (row),  -- verdict it corrects
  artifact INTEGER NOT NULL UNIQUE REFERENCES artifact (row),  -- the document
  judge_id TEXT NOT NULL,  -- ULID of the judging
  kind TEXT NOT NULL CHECK (kind IN ('verdict', 'screen')),  -- screen: one product alone
  profile TEXT NOT NULL CHECK (profile IN ('judge', 'screen', 'diagnostic')),  -- what the evidence is good for
  created_utc TEXT NOT NULL,  -- when
  spec_sha256 TEXT NOT NULL CHECK (length(spec_sha256) = 64),  -- digest of the judge's specification
  environment INTEGER NOT NULL REFERENCES environment (row),  -- where
  product_a TEXT NOT NULL CHECK (length(product_a) = 64),  -- identity of arm A, the baseline
  product_b TEXT CHECK (length(product_b) = 64),  -- identity of arm B, the candidate; NULL: screen
  label_a TEXT NOT NULL,  -- name of arm A
  label_b TEXT,  -- name of arm B
  outcome TEXT NOT NULL CHECK (outcome IN ('keep', 'rejected', 'inconclusive', 'invalid', 'screen')),  -- the answer
  theta REAL,  -- smallest log ratio that counts as a change
  meets_minimum INTEGER NOT NULL CHECK (meets_minimum IN (0, 1)),  -- at least 1.3 times faster
  meets_objective INTEGER NOT NULL CHECK (meets_objective IN (0, 1)),  -- at least 2 times faster
  headline_eligible INTEGER NOT NULL CHECK (headline_eligible IN (0, 1))  -- may be quoted as the product's speed
) STRICT;
CREATE INDEX verdict_created ON verdict (created_utc);

-- table: One process run of one arm inside a judging.
CREATE TABLE session (
  row INTEGER PRIMARY KEY,  -- order of appending
  verdict INTEGER NOT NULL REFERENCES verdict (row),  -- its verdict
  workload_id TEXT NOT NULL,  -- readable name
  config TEXT NOT NULL,  -- protocol configuration
  phase TEXT NOT NULL CHECK (phase IN ('cold', 'round')),  -- cold: whole processes
  round INTEGER NOT NULL CHECK (round >= 0),  -- from 0
  slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 3),  -- place in the round
  arm TEXT NOT NULL CHECK (arm IN ('A', 'B')),  -- which product
  report_sha256 TEXT NOT NULL CHECK (length(report_sha256) = 64),  -- its product report
  run INTEGER REFERENCES run (row),  -- that report here; NULL: it was not added
  value_ns INTEGER NOT NULL CHECK (value_ns > 0),  -- median verified request; cold: whole process
  voided INTEGER NOT NULL CHECK (voided IN (0, 1)),  -- 1: does not count
  UNIQUE (verdict, workload_id, config, phase, round, slot)
) STRICT;

-- table: Steady requests of a session.
CREATE TABLE sample (
  row INTEGER PRIMARY KEY,  -- order of appending
  session INTEGER NOT NULL REFERENCES session (row),  -- its session
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),  -- from 0
  verified_request_ns INTEGER NOT NULL CHECK (verified_request_ns > 0),  -- nanoseconds
  UNIQUE (session, ordinal)
) STRICT;

-- table: What the device and the host were like during a session.
CREATE TABLE telemetry (
  row INTEGER PRIMARY KEY,  -- order of appending
  session INTEGER NOT NULL REFERENCES session (row),  -- its session
  metric TEXT NOT NULL,  -- e.g. sm_clock
  unit TEXT NOT NULL,  -- e.g. MHz
  samples INTEGER NOT NULL,  -- how many readings
  min REAL NOT NULL,  -- least
  mean REAL NOT NULL,  -- mean
  max REAL NOT NULL,  -- greatest
  UNIQUE (session, metric)
) STRICT;

-- table: Log ratio of candidate to baseline in one round.
CREATE TABLE judge_round (
  row INTEGER PRIMARY KEY,  -- order of appending
  verdict INTEGER NOT NULL REFERENCES verdict (row),  -- its verdict
  workload_id TEXT NOT NULL,  -- readable name
  config TEXT NOT NULL,  -- protocol configuration
  round INTEGER NOT NULL CHECK (round >= 0),  -- from 0
  d REAL NOT NULL,  -- mean ln B - mean ln A; below 0 is faster
  UNIQUE (verdict, workload_id, config, round)
) STRICT;

-- table: Ratios of candidate to baseline with their intervals. Below 1 is faster.
CREATE TABLE estimate (
  row INTEGER PRIMARY KEY,  -- order of appending
  verdict INTEGER NOT NULL REFERENCES verdict (row),  -- its verdict
  scope TEXT NOT NULL CHECK (scope IN ('workload', 'class', 'portfolio', 'cold')),  -- over what
  subject TEXT NOT NULL,  -- workload or class; empty for the portfolio
  ratio REAL,  -- NULL: the evidence is invalid
  low REAL,  -- lower end of the 95 % interval
  high REAL,  -- upper end
  UNIQUE (verdict, scope, subject)
) STRICT;

-- table: Why a verdict is not better.
CREATE TABLE verdict_reason (
  row INTEGER PRIMARY KEY,  -- order of appending
  verdict INTEGER NOT NULL REFERENCES verdict (row),  -- its verdict
  ordinal INTEGER NOT NULL,  -- order in the document
  code TEXT NOT NULL,  -- reason code of the judge
  workload_id TEXT,  -- where; NULL: everywhere
  round INTEGER,  -- where; NULL: in all rounds
  slot INTEGER,  -- where; NULL: in all slots
  observed TEXT,  -- what was found
  allowed TEXT,  -- what would have been right
  UNIQUE (verdict, ordinal)
) STRICT;

-- table: The same product in both arms: how much a host differs from itself.
CREATE TABLE calibration (
  row INTEGER PRIMARY KEY,  -- order of appending
  calibration_id TEXT NOT NULL UNIQUE CHECK (length(calibration_id) = 64),  -- digest of the document
  artifact INTEGER NOT NULL UNIQUE REFERENCES artifact (row),  -- the document
  judge_id TEXT NOT NULL,  -- ULID of the judging
  environment INTEGER NOT NULL REFERENCES environment (row),  -- where
  structural_class TEXT NOT NULL,  -- class it was made for
  product TEXT NOT NULL CHECK (length(product) = 64),  -- identity of the product
  created_utc TEXT NOT NULL,  -- when
  rounds INTEGER NOT NULL,  -- how many
  low REAL NOT NULL,  -- lower end of the log interval
  high REAL NOT NULL,  -- upper end
  delta REAL NOT NULL,  -- larger of their magnitudes
  theta REAL NOT NULL,  -- smallest log ratio that counts as a change
  passed INTEGER NOT NULL CHECK (passed IN (0, 1))  -- 1: the host may judge
) STRICT;
CREATE INDEX calibration_environment ON calibration (environment, structural_class, created_utc);
