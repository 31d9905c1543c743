-- Products, environments, workloads, and what product reports say about runs.

-- table: A built program that proves: one row per identity digest.
CREATE TABLE product (
  row INTEGER PRIMARY KEY,  -- order of appending
  product_id TEXT NOT NULL UNIQUE CHECK (length(product_id) = 64),  -- identity_sha256 of its reports
  name TEXT NOT NULL,  -- name of the product
  binary_sha256 TEXT NOT NULL CHECK (length(binary_sha256) = 64),  -- digest of the executable
  source_commit TEXT,  -- revision it was built from; NULL: unknown
  dirty INTEGER CHECK (dirty IN (0, 1)),  -- 1: with changes that are in no revision; NULL: unknown
  build_type TEXT,  -- Release, ...
  host_compiler TEXT,  -- compiler of the host code
  nvcc_version TEXT,  -- compiler of the kernels; NULL: none
  cuda_arch_list TEXT,  -- SMs there are cubins for; NULL: none
  protocol TEXT,  -- protocol and version of its proofs
  identity_json TEXT NOT NULL CHECK (json_valid(identity_json))  -- the whole identity block
) STRICT;
CREATE INDEX product_binary ON product (binary_sha256);

-- table: A machine as far as it decides speed. Times of different environments are never compared.
CREATE TABLE environment (
  row INTEGER PRIMARY KEY,  -- order of appending
  environment_id TEXT NOT NULL UNIQUE CHECK (length(environment_id) = 64),  -- digest of canonical_json
  kind TEXT NOT NULL CHECK (kind IN ('report', 'capture', 'judge_host', 'cpu_host')),  -- who described it
  device_uuid TEXT,  -- NULL: no device
  device_name TEXT,  -- NULL: no device
  sm INTEGER,  -- compute capability, 90 for 9.0
  driver_version TEXT,  -- NULL: no device
  cpu_model TEXT,  -- processor
  logical_cpus INTEGER,  -- hardware threads
  canonical_json TEXT NOT NULL CHECK (json_valid(canonical_json))  -- sorted keys, compact
) STRICT;

-- table: A statement under a protocol configuration: what runs can be compared on.
CREATE TABLE workload (
  row INTEGER PRIMARY KEY,  -- order of appending
  workload_id TEXT NOT NULL,  -- readable name, e.g. wide_fibonacci_log20x100
  config TEXT NOT NULL,  -- protocol configuration, e.g. pow=10,blowup=1,...
  statement_sha256 TEXT CHECK (length(statement_sha256) = 64),  -- digest of the statement; NULL: only the name is known
  structural_class TEXT,  -- latency, narrow_deep, wide, hash_heavy, lookup_heavy, irregular, vm, extreme or sustained
  trace_rows INTEGER,  -- rows of the largest component
  trace_cells INTEGER,  -- committed cells
  UNIQUE (workload_id, config, statement_sha256)
) STRICT;

-- table: A compiled plan: what one request launches and moves, as predicted.
CREATE TABLE plan (
  row INTEGER PRIMARY KEY,  -- order of appending
  plan_id TEXT NOT NULL UNIQUE CHECK (length(plan_id) = 64),  -- digest over cache key, program and pass ledger
  cache_key_sha256 TEXT NOT NULL CHECK (length(cache_key_sha256) = 64),  -- key of the prepared plan
  program_sha256 TEXT NOT NULL CHECK (length(program_sha256) = 64),  -- proof program it was compiled from
  semantic_sha256 TEXT NOT NULL CHECK (length(semantic_sha256) = 64),  -- equal: proofs must be equal
  schedule_version INTEGER NOT NULL,  -- version of the scheduler
  transcript_barriers INTEGER NOT NULL,  -- points all later work waits at
  launches INTEGER NOT NULL,  -- sum over the pass ledger
  request_bytes INTEGER,  -- arena; NULL: the document does not say
  persistent_bytes INTEGER,  -- tables and constants; NULL: the document does not say
  artifact INTEGER NOT NULL REFERENCES artifact (row)  -- document it was first seen in
) STRICT;

-- table: The pass ledger: what each pass of a plan is predicted to move.
CREATE TABLE pass (
  row INTEGER PRIMARY KEY,  -- order of appending
  plan INTEGER NOT NULL REFERENCES plan (row),  -- its plan
  ordinal INTEGER NOT NULL,  -- order in the request, from 0
  stage TEXT NOT NULL,  -- stage of the proof
  pass TEXT NOT NULL,  -- name of the pass
  kernel TEXT NOT NULL,  -- kernel that runs it
  input_bytes INTEGER NOT NULL CHECK (input_bytes >= 0),  -- read once
  output_bytes INTEGER NOT NULL CHECK (output_bytes >= 0),  -- written
  reread_bytes INTEGER NOT NULL CHECK (reread_bytes >= 0),  -- read again
  temporary_bytes INTEGER NOT NULL CHECK (temporary_bytes >= 0),  -- written and not kept
  launches INTEGER NOT NULL CHECK (launches >= 0),  -- kernels launched
  barriers INTEGER NOT NULL CHECK (barriers >= 0),  -- transcript barriers it ends in
  retained_consumer TEXT,  -- who keeps the output alive; NULL: nobody after the stage
  UNIQUE (plan, ordinal)
) STRICT;

-- table: One product report: one process, some requests of one workload.
CREATE TABLE run (
  row INTEGER PRIMARY KEY,  -- order of appending
  run_id TEXT NOT NULL UNIQUE CHECK (length(run_id) = 64),  -- digest of the report
  artifact INTEGER NOT NULL UNIQUE REFERENCES artifact (row),  -- the report
  product INTEGER NOT NULL REFERENCES product (row),  -- what ran
  environment INTEGER NOT NULL REFERENCES environment (row),  -- where
  workload INTEGER NOT NULL REFERENCES workload (row),  -- on what
  plan INTEGER REFERENCES plan (row),  -- compiled plan; NULL: no device
  backend TEXT NOT NULL CHECK (backend IN ('cpu', 'cuda')),  -- cpu or cuda
  execution_mode TEXT,  -- graphs or direct; NULL: no device
  created_utc TEXT NOT NULL,  -- when the report was written
  eligible INTEGER NOT NULL CHECK (eligible IN (0, 1)),  -- 1: may count as evidence of the CUDA backend's speed
  ineligible_reason TEXT,  -- why not
  proof_sha256 TEXT NOT NULL CHECK (length(proof_sha256) = 64),  -- digest of the canonical proof
  proof_bytes INTEGER NOT NULL,  -- its size
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),  -- 1: our verifier accepted it
  oracle_name TEXT,  -- outside verifier; NULL: none was asked
  oracle_accepted INTEGER CHECK (oracle_accepted IN (0, 1)),  -- its answer
  program_sha256 TEXT NOT NULL CHECK (length(program_sha256) = 64),  -- proof program
  semantic_sha256 TEXT,  -- equal: proofs must be equal
  process_start_to_main_ns INTEGER,  -- NULL: the system does not tell
  runtime_init_ns INTEGER NOT NULL,  -- once per process
  shape_prepare_ns INTEGER NOT NULL,  -- once per shape
  first_request_ns INTEGER NOT NULL,  -- verified request of ordinal 0
  runtime_teardown_ns INTEGER NOT NULL,  -- once per process
  total_ns INTEGER NOT NULL,  -- whole process before the report was written
  n_requests INTEGER NOT NULL,  -- all requests
  n_steady INTEGER NOT NULL,  -- those of role steady
  verified_request_ns INTEGER,  -- lower median of the steady requests; NULL: there are none
  resident_prove_ns INTEGER,  -- the same of the proof without encoding and verification
  device_ns INTEGER,  -- the same of the device's time; NULL: no device
  kernel_launches INTEGER,  -- of the last request; NULL: no device
  accounted_peak_bytes INTEGER NOT NULL,  -- sum of the memory parts at their peak
  n_flags INTEGER NOT NULL  -- rows in contract_flag
) STRICT;
CREATE INDEX run_workload ON run (workload, environment, created_utc);
CREATE INDEX run_created ON run (created_utc);
CREATE INDEX run_product ON run (product);
CREATE INDEX run_plan ON run (plan);

-- table: Requests of a run.
CREATE TABLE request (
  row INTEGER PRIMARY KEY,  -- order of appending
  run INTEGER NOT NULL REFERENCES run (row),  -- its run
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),  -- from 0
  role TEXT NOT NULL CHECK (role IN ('first', 'warmup', 'steady')),  -- first, warmup or steady
  resident_prove_ns INTEGER NOT NULL,  -- from ingress to the proof on the host
  encode_ns INTEGER NOT NULL,  -- proof to bytes
  terminal_decode_ns INTEGER NOT NULL,  -- bytes to proof
  independent_verification_ns INTEGER NOT NULL,  -- our verifier
  verified_request_ns INTEGER NOT NULL,  -- all of it
  device_ns INTEGER,  -- first to last device event; NULL: no device
  kernel_launches INTEGER,  -- NULL: no device
  graph_launches INTEGER,  -- NULL: no device
  sync_calls INTEGER,  -- calls that block the host
  module_loads INTEGER,  -- inside the request
  jit_compiles INTEGER,  -- loads that were no cubin
  allocations INTEGER,  -- device and pinned memory
  frees INTEGER,  -- device and pinned memory
  cpu_fallback_attempts INTEGER,  -- work moved to the CPU
  h2d_operations INTEGER,  -- copies to the device
  h2d_bytes INTEGER,  -- their bytes
  d2h_operations INTEGER,  -- copies to the host
  d2h_bytes INTEGER,  -- their bytes
  d2d_operations INTEGER,  -- copies on the device
  d2d_bytes INTEGER,  -- their bytes
  terminal_d2h_operations INTEGER,  -- copies that carry the proof
  intermediate_d2h_operations INTEGER,  -- copies to the host before it
  UNIQUE (run, ordinal)
) STRICT;

-- table: Time per stage of a run, on the host's clock and on the device's.
CREATE TABLE stage_time (
  row INTEGER PRIMARY KEY,  -- order of appending
  run INTEGER NOT NULL REFERENCES run (row),  -- its run
  clock TEXT NOT NULL CHECK (clock IN ('host', 'device')),  -- host clock, or device events
  statistic TEXT NOT NULL CHECK (statistic IN ('first', 'last', 'min', 'median')),  -- first request; last, minimum, median of the steady ones
  stage TEXT NOT NULL,  -- stage of the proof; total: their sum
  ns INTEGER NOT NULL CHECK (ns >= 0),  -- nanoseconds
  UNIQUE (run, clock, statistic, stage)
) STRICT;

-- table: Device code that a run had loaded.
CREATE TABLE module (
  row INTEGER PRIMARY KEY,  -- order of appending
  run INTEGER NOT NULL REFERENCES run (row),  -- its run
  load_ordinal INTEGER NOT NULL,  -- order of loading
  name TEXT NOT NULL,  -- name of the module
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),  -- digest of the code
  bytes INTEGER NOT NULL,  -- size
  kind TEXT NOT NULL,  -- cubin, ptx or nvrtc
  sm INTEGER NOT NULL,  -- compute capability, 90 for 9.0
  loaded_in TEXT NOT NULL,  -- init, prepare or request
  UNIQUE (run, load_ordinal)
) STRICT;

-- table: Memory of a run, part by part.
CREATE TABLE memory_part (
  row INTEGER PRIMARY KEY,  -- order of appending
  run INTEGER NOT NULL REFERENCES run (row),  -- its run
  part TEXT NOT NULL,  -- tables, arena_high_water, pool_reserved, capacity, ...
  bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- size at its peak
  UNIQUE (run, part)
) STRICT;

-- table: What a report may say and a production run must not do: fallbacks, early copies, code compiled at run time.
CREATE TABLE contract_flag (
  row INTEGER PRIMARY KEY,  -- order of appending
  run INTEGER NOT NULL REFERENCES run (row),  -- its run
  code TEXT NOT NULL,  -- FLAG_*
  path TEXT NOT NULL,  -- JSON pointer into the report
  message TEXT NOT NULL,  -- one line
  UNIQUE (run, code)
) STRICT;
