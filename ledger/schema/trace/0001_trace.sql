-- Trace capture (*.sptrace), schema version 1.
--
-- One file holds one capture and never changes after it was finalized. Times are nanoseconds of
-- CLOCK_REALTIME, sizes are bytes. Null means that the record did not say; 0 never stands for a
-- missing value. Addresses, payloads and thresholds are 64-bit patterns: above 2^63-1 they read as
-- negative numbers.
-- CUPTI's numbers of memory: 0 unknown, 1 pageable, 2 pinned, 3 device, 4 array, 5 managed,
-- 6 device static, 7 managed static.
--
-- Documentation comes from this file: "-- table: text" or "-- view: text" above each of them,
-- "-- text" behind each column.

PRAGMA application_id = 0x73745472;  -- "stTr"
PRAGMA user_version = 1;

-- table: Facts about the capture. docs/formats.md lists the keys.
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),  -- name of the fact
  value TEXT NOT NULL  -- its value
) STRICT, WITHOUT ROWID;

-- table: Every name once. Other tables refer to names by id.
CREATE TABLE str (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  value TEXT NOT NULL UNIQUE  -- the name
) STRICT;

-- table: The GPUs that the process could see.
CREATE TABLE device (
  id INTEGER PRIMARY KEY,  -- CUDA ordinal
  uuid TEXT NOT NULL,  -- "GPU-" and the UUID in lowercase hex
  name TEXT NOT NULL,  -- product name
  sm_major INTEGER NOT NULL,  -- compute capability
  sm_minor INTEGER NOT NULL,  -- compute capability
  multiprocessors INTEGER NOT NULL,  -- number of multiprocessors
  memory_bytes INTEGER NOT NULL,  -- global memory
  memory_bytes_per_s INTEGER,  -- peak bandwidth of global memory
  l2_bytes INTEGER,  -- L2 cache
  constant_bytes INTEGER,  -- constant memory
  clock_khz INTEGER,  -- highest clock of the multiprocessors
  warp_threads INTEGER,  -- threads of a warp
  copy_engines INTEGER,  -- copies that can run beside kernels
  max_threads_per_block INTEGER,  -- limit of a block
  max_registers_per_block INTEGER,  -- limit of a block
  max_shared_per_block_bytes INTEGER,  -- limit of a block
  max_warps_per_sm INTEGER,  -- limit of a multiprocessor
  max_blocks_per_sm INTEGER,  -- limit of a multiprocessor
  max_registers_per_sm INTEGER,  -- limit of a multiprocessor
  max_shared_per_sm_bytes INTEGER,  -- limit of a multiprocessor
  ecc INTEGER CHECK (ecc IN (0, 1)),  -- 1: error correction is on
  mig INTEGER CHECK (mig IN (0, 1))  -- 1: a slice of a partitioned GPU
) STRICT;

-- table: CUDA contexts. When they came and went is in res_event.
CREATE TABLE context (
  pid INTEGER NOT NULL,  -- process
  id INTEGER NOT NULL,  -- CUPTI's number of the context
  device_id INTEGER NOT NULL,  -- device.id
  null_stream_id INTEGER,  -- stream.id of the default stream
  parent_id INTEGER,  -- the context that a green context is part of
  green INTEGER CHECK (green IN (0, 1)),  -- 1: a green context
  PRIMARY KEY (pid, id)
) STRICT, WITHOUT ROWID;

-- table: CUDA streams. When they came and went is in res_event.
CREATE TABLE stream (
  pid INTEGER NOT NULL,  -- process
  context_id INTEGER NOT NULL,  -- context.id
  id INTEGER NOT NULL,  -- CUPTI's number of the stream
  priority INTEGER,  -- scheduling priority; lower runs first
  flag INTEGER,  -- 1 default, 2 non-blocking, 3 null stream
  PRIMARY KEY (pid, context_id, id)
) STRICT, WITHOUT ROWID;

-- table: Calls of the CUDA runtime and driver.
CREATE TABLE api (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- calling process
  tid INTEGER NOT NULL,  -- calling thread, as the system numbers it
  domain INTEGER NOT NULL CHECK (domain IN (0, 1, 2)),  -- 0 runtime, 1 driver, 2 internal launch
  cbid INTEGER NOT NULL,  -- CUPTI's number of the function
  name_id INTEGER NOT NULL REFERENCES str (id),  -- function
  start_ns INTEGER,  -- entry; null: not timed
  end_ns INTEGER,  -- return; null: not timed
  corr INTEGER NOT NULL,  -- joins with gpu_op.corr of the same pid
  rc INTEGER NOT NULL,  -- return value; 0 is success
  CHECK ((start_ns IS NULL) = (end_ns IS NULL)
         AND (start_ns IS NULL OR (start_ns > 0 AND end_ns >= start_ns)))
) STRICT;

-- table: Operations of a device. The fields of their kind are in kernel, copy and fill.
CREATE TABLE gpu_op (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- submitting process
  kind INTEGER NOT NULL CHECK (kind IN (1, 2, 3, 4)),  -- 1 kernel, 2 copy, 3 fill, 4 whole graph
  device_id INTEGER NOT NULL,  -- device.id
  context_id INTEGER NOT NULL,  -- context.id
  stream_id INTEGER NOT NULL,  -- stream.id
  start_ns INTEGER,  -- start on the device; null: not timed
  end_ns INTEGER,  -- end on the device; null: not timed
  corr INTEGER NOT NULL,  -- joins with api.corr of the same pid
  graph_id INTEGER,  -- executable graph that launched it
  graph_node_id INTEGER,  -- node of the graph; names the operation
  CHECK ((start_ns IS NULL) = (end_ns IS NULL)
         AND (start_ns IS NULL OR (start_ns > 0 AND end_ns >= start_ns)))
) STRICT;

-- table: What a gpu_op of kind 1 ran.
CREATE TABLE kernel (
  op_id INTEGER PRIMARY KEY REFERENCES gpu_op (id),  -- the operation
  name_id INTEGER NOT NULL REFERENCES str (id),  -- demangled name with template arguments
  short_id INTEGER NOT NULL REFERENCES str (id),  -- base name
  mangled_id INTEGER REFERENCES str (id),  -- name in the module
  grid_x INTEGER NOT NULL,  -- blocks
  grid_y INTEGER NOT NULL,  -- blocks
  grid_z INTEGER NOT NULL,  -- blocks
  block_x INTEGER NOT NULL,  -- threads of a block
  block_y INTEGER NOT NULL,  -- threads of a block
  block_z INTEGER NOT NULL,  -- threads of a block
  cluster_x INTEGER,  -- blocks of a cluster; null: no clusters
  cluster_y INTEGER,  -- blocks of a cluster
  cluster_z INTEGER,  -- blocks of a cluster
  static_shared_bytes INTEGER NOT NULL,  -- shared memory that the code declares
  dynamic_shared_bytes INTEGER NOT NULL,  -- shared memory that the launch asked for
  shared_executed_bytes INTEGER,  -- shared memory that the driver set up
  registers INTEGER NOT NULL,  -- registers of a thread
  local_per_thread_bytes INTEGER NOT NULL,  -- local memory of a thread
  local_total_bytes INTEGER NOT NULL,  -- local memory of the launch
  grid_number INTEGER NOT NULL,  -- the driver's number of the launch
  launch_type INTEGER,  -- 0 regular, 1 and 2 cooperative
  cache_config INTEGER,  -- cache preference that was in force
  queued_ns INTEGER,  -- put into the command buffer (--latency)
  submitted_ns INTEGER  -- command buffer submitted (--latency)
) STRICT;

-- table: What a gpu_op of kind 2 moved.
CREATE TABLE copy (
  op_id INTEGER PRIMARY KEY REFERENCES gpu_op (id),  -- the operation
  copy_kind INTEGER NOT NULL,  -- ENUM_CUDA_MEMCPY_OPER lists them
  src_kind INTEGER NOT NULL CHECK (src_kind BETWEEN 0 AND 7),  -- memory read: CUPTI's numbers
  dst_kind INTEGER NOT NULL CHECK (dst_kind BETWEEN 0 AND 7),  -- memory written: CUPTI's numbers
  async INTEGER NOT NULL CHECK (async IN (0, 1)),  -- 1: the call did not wait
  bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- bytes moved
  src_device_id INTEGER,  -- peer copies: source
  src_context_id INTEGER,  -- peer copies: source
  dst_device_id INTEGER,  -- peer copies: destination
  dst_context_id INTEGER,  -- peer copies: destination
  copy_count INTEGER  -- copies that this record stands for
) STRICT;

-- table: What a gpu_op of kind 3 set.
CREATE TABLE fill (
  op_id INTEGER PRIMARY KEY REFERENCES gpu_op (id),  -- the operation
  value INTEGER NOT NULL,  -- value written
  bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- bytes written
  mem_kind INTEGER NOT NULL CHECK (mem_kind BETWEEN 0 AND 7)  -- memory: CUPTI's numbers
) STRICT;

-- table: Waits of the host, and waits between streams.
CREATE TABLE sync (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- calling process
  type INTEGER NOT NULL CHECK (type BETWEEN 0 AND 4),  -- ENUM_CUPTI_SYNC_TYPE lists them
  context_id INTEGER NOT NULL,  -- context.id
  stream_id INTEGER,  -- stream.id; null: not about one stream
  event_id INTEGER,  -- event; null: not about an event
  event_sync_id INTEGER,  -- joins with cuda_event.event_sync_id
  start_ns INTEGER,  -- begin of the wait; null: not timed
  end_ns INTEGER,  -- end of the wait; null: not timed
  corr INTEGER NOT NULL,  -- joins with api.corr of the same pid
  rc INTEGER,  -- return value of the call
  CHECK ((start_ns IS NULL) = (end_ns IS NULL)
         AND (start_ns IS NULL OR (start_ns > 0 AND end_ns >= start_ns)))
) STRICT;

-- table: Events recorded on streams.
CREATE TABLE cuda_event (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- calling process
  device_id INTEGER NOT NULL,  -- device.id
  context_id INTEGER NOT NULL,  -- context.id
  stream_id INTEGER NOT NULL,  -- stream.id
  event_id INTEGER NOT NULL,  -- the event
  event_sync_id INTEGER,  -- this recording of it; sync.event_sync_id
  device_ts_ns INTEGER CHECK (device_ts_ns > 0),  -- when the device reached it; null: not timed
  corr INTEGER NOT NULL  -- joins with api.corr of the same pid
) STRICT;

-- table: Allocations and releases of memory.
CREATE TABLE mem_event (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- calling process
  op INTEGER NOT NULL CHECK (op IN (1, 2)),  -- 1 allocation, 2 release
  mem_kind INTEGER NOT NULL CHECK (mem_kind BETWEEN 0 AND 7),  -- memory: CUPTI's numbers
  device_id INTEGER NOT NULL,  -- device.id
  context_id INTEGER NOT NULL,  -- context.id
  stream_id INTEGER,  -- stream of an ordered allocation
  address INTEGER NOT NULL,  -- first byte
  bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- size
  ts_ns INTEGER CHECK (ts_ns > 0),  -- when; null: not timed
  pc INTEGER,  -- program counter of the call
  name_id INTEGER REFERENCES str (id),  -- variable, of static memory
  corr INTEGER NOT NULL,  -- joins with api.corr of the same pid
  async INTEGER NOT NULL CHECK (async IN (0, 1)),  -- 1: ordered by a stream
  pool_type INTEGER,  -- 1 own pool, 2 imported pool
  pool_address INTEGER,  -- names the pool
  pool_release_threshold_bytes INTEGER,  -- own pool: kept before trimming
  pool_bytes INTEGER,  -- own pool: size
  pool_used_bytes INTEGER,  -- own pool: part in use
  pool_pid INTEGER  -- imported pool: its process
) STRICT;

-- table: Life of memory pools.
CREATE TABLE pool_event (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- calling process
  op INTEGER NOT NULL CHECK (op IN (1, 2, 3)),  -- 1 created, 2 destroyed, 3 trimmed
  pool_type INTEGER NOT NULL,  -- 1 own pool, 2 imported pool
  device_id INTEGER NOT NULL,  -- device.id
  address INTEGER NOT NULL,  -- names the pool
  size_bytes INTEGER,  -- size
  used_bytes INTEGER,  -- part in use
  release_threshold_bytes INTEGER,  -- kept before trimming
  min_keep_bytes INTEGER,  -- trimmed: bytes to keep
  ts_ns INTEGER CHECK (ts_ns > 0),  -- when; null: not timed
  corr INTEGER NOT NULL  -- joins with api.corr of the same pid
) STRICT;

-- table: Contexts, streams, modules and graphs that came or went.
CREATE TABLE res_event (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- process
  kind TEXT NOT NULL,  -- what happened, e.g. module_loaded; the constraint lists all
  ts_ns INTEGER NOT NULL CHECK (ts_ns > 0),  -- when the callback ran
  context_id INTEGER,  -- context.id
  object INTEGER,  -- number of the stream, module or graph
  bytes INTEGER,  -- module: size of the code
  sha256 TEXT CHECK (length(sha256) = 64),  -- module: digest of the code
  CHECK (kind IN ('context_created', 'context_destroyed', 'stream_created', 'stream_destroyed',
                  'module_loaded', 'module_unloaded', 'graph_created', 'graph_destroyed',
                  'graph_exec_created', 'graph_exec_destroyed'))
) STRICT;

-- table: Compilations at run time and their cache.
CREATE TABLE jit (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- process
  tid INTEGER NOT NULL,  -- thread
  entry_type INTEGER NOT NULL,  -- 1 PTX to cubin, 2 NVVM IR to PTX
  operation INTEGER NOT NULL,  -- 1 cache load, 2 cache store, 3 compilation
  device_id INTEGER NOT NULL,  -- device.id
  start_ns INTEGER,  -- begin; null: not timed
  end_ns INTEGER,  -- end; null: not timed
  corr INTEGER NOT NULL,  -- joins with api.corr of the same pid
  operation_corr INTEGER NOT NULL,  -- same for all steps of one compilation
  cache_bytes INTEGER,  -- size of the cached code
  cache_path_id INTEGER REFERENCES str (id),  -- file of the cache
  CHECK ((start_ns IS NULL) = (end_ns IS NULL)
         AND (start_ns IS NULL OR (start_ns > 0 AND end_ns >= start_ns)))
) STRICT;

-- table: Time that the profiler or the driver took for itself.
CREATE TABLE overhead (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- process
  tid INTEGER,  -- thread that was held up; null: not about a thread
  kind INTEGER NOT NULL,  -- CUPTI's number: 1 compiler, k * 65536 profiler and lazy loading
  context_id INTEGER,  -- context.id; null: not about a context
  stream_id INTEGER,  -- stream.id; null: not about a stream
  start_ns INTEGER,  -- begin; null: not timed
  end_ns INTEGER,  -- end; null: not timed
  corr INTEGER,  -- joins with api.corr of the same pid; null: no call
  CHECK ((start_ns IS NULL) = (end_ns IS NULL)
         AND (start_ns IS NULL OR (start_ns > 0 AND end_ns >= start_ns)))
) STRICT;

-- table: Ranges and marks that the program put into its own timeline.
CREATE TABLE nvtx (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  pid INTEGER NOT NULL,  -- process
  type INTEGER NOT NULL CHECK (type IN (1, 2, 3)),  -- 1 mark, 2 push and pop, 3 start and end
  domain_id INTEGER REFERENCES str (id),  -- domain; null: the default one
  name_id INTEGER REFERENCES str (id),  -- message; null: none
  tid INTEGER NOT NULL,  -- thread that opened it
  end_tid INTEGER,  -- thread that ended it, if another one
  start_ns INTEGER NOT NULL CHECK (start_ns > 0),  -- begin, or time of the mark
  end_ns INTEGER CHECK (end_ns >= start_ns),  -- end; null: a mark, or never closed
  payload INTEGER,  -- request ordinal or predicted bytes
  category INTEGER NOT NULL,  -- 0 none; stwo.prover: 1 request, 2 stage, 3 pass
  flags INTEGER NOT NULL  -- CUPTI's flags of the marker
) STRICT;

-- table: Two clocks read together, about once a second.
CREATE TABLE clock_pair (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  realtime_ns INTEGER NOT NULL CHECK (realtime_ns > 0),  -- CLOCK_REALTIME
  monotonic_raw_ns INTEGER NOT NULL  -- CLOCK_MONOTONIC_RAW
) STRICT;

-- table: Records that could not be understood.
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY,  -- number within the capture, from 1
  reason TEXT NOT NULL CHECK (reason <> ''),  -- what is wrong with it
  bytes BLOB NOT NULL  -- the record
) STRICT;

-- table: Records that are missing.
CREATE TABLE loss (
  kind TEXT NOT NULL PRIMARY KEY CHECK (kind <> ''),  -- what was lost, and where
  count INTEGER NOT NULL CHECK (count > 0)  -- how many
) STRICT, WITHOUT ROWID;

-- table: The requests of the product report, in the time of this capture.
CREATE TABLE window (
  request INTEGER PRIMARY KEY,  -- ordinal of the request
  role TEXT NOT NULL CHECK (role IN ('first', 'warmup', 'steady')),  -- its part in the run
  begin_ns INTEGER NOT NULL CHECK (begin_ns > 0),  -- request taken
  resident_begin_ns INTEGER NOT NULL,  -- resident part begins
  resident_end_ns INTEGER NOT NULL,  -- resident part ends
  end_ns INTEGER NOT NULL,  -- proof verified
  CHECK (begin_ns <= resident_begin_ns AND resident_begin_ns <= resident_end_ns
         AND resident_end_ns <= end_ns)
) STRICT;

-- table: One row with the digest of the file: of all its bytes, with '0' for the digest's own 64.
-- It is the only row of its page, and the digest is the page's end.
CREATE TABLE seal (
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64)  -- zeros until the file is finalized
) STRICT;

-- view: Times without a pause in which a device works. Islands of a device are numbered from 1.
CREATE VIEW busy_island AS
WITH ordered AS (
  SELECT device_id, start_ns, end_ns,
         MAX(end_ns) OVER (PARTITION BY device_id ORDER BY start_ns, end_ns
                           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached_ns
  FROM gpu_op
  WHERE start_ns IS NOT NULL
), numbered AS (
  SELECT device_id, start_ns, end_ns,
         SUM(reached_ns IS NULL OR start_ns > reached_ns)
           OVER (PARTITION BY device_id ORDER BY start_ns, end_ns
                 ROWS UNBOUNDED PRECEDING) AS island
  FROM ordered
)
SELECT device_id, island, MIN(start_ns) AS start_ns, MAX(end_ns) AS end_ns,
       COUNT(*) AS operations
FROM numbered
GROUP BY device_id, island;

-- The views below have the names and columns of an export of Nsight Systems (schema 3.16.1), so
-- that scripts for such exports run here. What differs from the tables above:
--   times           minus session_start_ns; rows without times are left out
--   globalPid       pid << 24; globalTid adds the thread
--   memory kinds    (CUPTI's number + 7) mod 8
--   memory events   allocation and release are 0 and 1
--   RUNTIME         calls of runtime (eventClass 0) and driver (1); internal launches left out
--   NVTX eventType  34 mark, 59 push and pop, 60 start and end, 75 a domain's name
--   overheadType    2 compiler, 3 to 10: CUPTI's kinds 65536 to 8 * 65536
-- Columns that a capture does not hold are null.

-- view: All names.
CREATE VIEW StringIds AS SELECT id, value FROM str;

-- view: Timed kernels.
CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT o.start_ns - (SELECT ns FROM session) AS start,
       o.end_ns - (SELECT ns FROM session) AS end,
       o.device_id AS deviceId,
       o.context_id AS contextId,
       NULL AS greenContextId,
       o.stream_id AS streamId,
       o.corr AS correlationId,
       o.pid << 24 AS globalPid,
       k.name_id AS demangledName,
       k.short_id AS shortName,
       k.mangled_id AS mangledName,
       k.launch_type AS launchType,
       k.cache_config AS cacheConfig,
       k.registers AS registersPerThread,
       k.grid_x AS gridX,
       k.grid_y AS gridY,
       k.grid_z AS gridZ,
       k.block_x AS blockX,
       k.block_y AS blockY,
       k.block_z AS blockZ,
       k.static_shared_bytes AS staticSharedMemory,
       k.dynamic_shared_bytes AS dynamicSharedMemory,
       k.local_per_thread_bytes AS localMemoryPerThread,
       k.local_total_bytes AS localMemoryTotal,
       k.grid_number AS gridId,
       k.shared_executed_bytes AS sharedMemoryExecuted,
       o.graph_node_id AS graphNodeId,
       NULL AS sharedMemoryLimitConfig
FROM kernel k JOIN gpu_op o ON o.id = k.op_id
WHERE o.start_ns IS NOT NULL;

-- view: Timed copies.
CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT o.start_ns - (SELECT ns FROM session) AS start,
       o.end_ns - (SELECT ns FROM session) AS end,
       o.device_id AS deviceId,
       o.context_id AS contextId,
       NULL AS greenContextId,
       o.stream_id AS streamId,
       o.corr AS correlationId,
       o.pid << 24 AS globalPid,
       c.bytes AS bytes,
       c.copy_kind AS copyKind,
       NULL AS deprecatedSrcId,
       (c.src_kind + 7) % 8 AS srcKind,
       (c.dst_kind + 7) % 8 AS dstKind,
       c.src_device_id AS srcDeviceId,
       c.src_context_id AS srcContextId,
       c.dst_device_id AS dstDeviceId,
       c.dst_context_id AS dstContextId,
       NULL AS migrationCause,
       o.graph_node_id AS graphNodeId,
       NULL AS virtualAddress
FROM copy c JOIN gpu_op o ON o.id = c.op_id
WHERE o.start_ns IS NOT NULL;

-- view: Timed fills.
CREATE VIEW CUPTI_ACTIVITY_KIND_MEMSET AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT o.start_ns - (SELECT ns FROM session) AS start,
       o.end_ns - (SELECT ns FROM session) AS end,
       o.device_id AS deviceId,
       o.context_id AS contextId,
       NULL AS greenContextId,
       o.stream_id AS streamId,
       o.corr AS correlationId,
       o.pid << 24 AS globalPid,
       f.value AS value,
       f.bytes AS bytes,
       o.graph_node_id AS graphNodeId,
       (f.mem_kind + 7) % 8 AS memKind
FROM fill f JOIN gpu_op o ON o.id = f.op_id
WHERE o.start_ns IS NOT NULL;

-- view: Timed launches of whole graphs.
CREATE VIEW CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT start_ns - (SELECT ns FROM session) AS start,
       end_ns - (SELECT ns FROM session) AS end,
       device_id AS deviceId,
       context_id AS contextId,
       NULL AS greenContextId,
       stream_id AS streamId,
       corr AS correlationId,
       pid << 24 AS globalPid,
       graph_id AS graphId,
       graph_id AS graphExecId
FROM gpu_op
WHERE kind = 4 AND start_ns IS NOT NULL;

-- view: Timed calls of runtime and driver.
CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT start_ns - (SELECT ns FROM session) AS start,
       end_ns - (SELECT ns FROM session) AS end,
       domain AS eventClass,
       (pid << 24) | tid AS globalTid,
       corr AS correlationId,
       name_id AS nameId,
       rc AS returnValue,
       NULL AS callchainId
FROM api
WHERE domain <> 2 AND start_ns IS NOT NULL;

-- view: Timed waits.
CREATE VIEW CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT s.start_ns - (SELECT ns FROM session) AS start,
       s.end_ns - (SELECT ns FROM session) AS end,
       (SELECT device_id FROM context c WHERE c.pid = s.pid AND c.id = s.context_id) AS deviceId,
       s.context_id AS contextId,
       NULL AS greenContextId,
       COALESCE(s.stream_id, 0xffffffff) AS streamId,
       s.corr AS correlationId,
       s.pid << 24 AS globalPid,
       s.type AS syncType,
       COALESCE(s.event_id, 0xffffffff) AS eventId
FROM sync s
WHERE s.start_ns IS NOT NULL;

-- view: Timed overhead.
CREATE VIEW CUPTI_ACTIVITY_KIND_OVERHEAD AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT start_ns - (SELECT ns FROM session) AS start,
       end_ns - (SELECT ns FROM session) AS end,
       NULL AS eventClass,
       (pid << 24) | COALESCE(tid, 0) AS globalTid,
       corr AS correlationId,
       NULL AS nameId,
       CASE WHEN kind >= 65536 THEN kind / 65536 + 2 ELSE kind + 1 END AS overheadType
FROM overhead
WHERE start_ns IS NOT NULL;

-- view: Timed allocations and releases.
CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT m.ts_ns - (SELECT ns FROM session) AS start,
       m.pid << 24 AS globalPid,
       m.device_id AS deviceId,
       m.context_id AS contextId,
       m.address AS address,
       m.pc AS pc,
       m.bytes AS bytes,
       (m.mem_kind + 7) % 8 AS memKind,
       m.op - 1 AS memoryOperationType,
       (SELECT value FROM str WHERE str.id = m.name_id) AS name,
       m.corr AS correlationId,
       m.stream_id AS streamId,
       CASE m.pool_type WHEN 1 THEN m.pool_address END AS localMemoryPoolAddress,
       m.pool_release_threshold_bytes AS localMemoryPoolReleaseThreshold,
       m.pool_bytes AS localMemoryPoolSize,
       m.pool_used_bytes AS localMemoryPoolUtilizedSize,
       CASE m.pool_type WHEN 2 THEN m.pool_address END AS importedMemoryPoolAddress,
       m.pool_pid AS importedMemoryPoolProcessId
FROM mem_event m
WHERE m.ts_ns IS NOT NULL;

-- view: Ranges and marks, and one row of type 75 for each domain of a process.
CREATE VIEW NVTX_EVENTS AS
WITH session AS (SELECT CAST(value AS INTEGER) AS ns FROM meta WHERE key = 'session_start_ns')
SELECT start_ns - (SELECT ns FROM session) AS start,
       end_ns - (SELECT ns FROM session) AS end,
       CASE type WHEN 1 THEN 34 WHEN 2 THEN 59 ELSE 60 END AS eventType,
       NULL AS rangeId,
       NULLIF(category, 0) AS category,
       NULL AS color,
       NULL AS text,
       (pid << 24) | tid AS globalTid,
       (pid << 24) | end_tid AS endGlobalTid,
       name_id AS textId,
       COALESCE(domain_id, 0) AS domainId,
       payload AS uint64Value,
       NULL AS int64Value,
       NULL AS doubleValue,
       NULL AS uint32Value,
       NULL AS int32Value,
       NULL AS floatValue,
       NULL AS jsonTextId,
       NULL AS jsonText,
       NULL AS binaryData
FROM nvtx
UNION ALL
SELECT 0, NULL, 75, NULL, NULL, NULL, (SELECT value FROM str WHERE id = domain_id), pid << 24,
       NULL, NULL, domain_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT DISTINCT pid, domain_id FROM nvtx WHERE domain_id IS NOT NULL);

-- view: Processes with calls, operations or a context.
CREATE VIEW PROCESSES AS
WITH RECURSIVE of_api (pid) AS (
  SELECT MIN(pid) FROM api
  UNION ALL
  SELECT (SELECT MIN(api.pid) FROM api WHERE api.pid > of_api.pid)
  FROM of_api WHERE of_api.pid IS NOT NULL
), of_gpu_op (pid) AS (
  SELECT MIN(pid) FROM gpu_op
  UNION ALL
  SELECT (SELECT MIN(gpu_op.pid) FROM gpu_op WHERE gpu_op.pid > of_gpu_op.pid)
  FROM of_gpu_op WHERE of_gpu_op.pid IS NOT NULL
), found (pid) AS (
  SELECT pid FROM of_api UNION SELECT pid FROM of_gpu_op UNION SELECT pid FROM context
)
SELECT pid << 24 AS globalPid,
       pid AS pid,
       (SELECT value FROM meta WHERE key = 'process_name.' || found.pid) AS name
FROM found
WHERE pid IS NOT NULL;

-- view: The devices.
CREATE VIEW TARGET_INFO_GPU AS
SELECT 0 AS vmId,
       id AS id,
       name AS name,
       NULL AS busLocation,
       NULL AS isDiscrete,
       l2_bytes AS l2CacheSize,
       memory_bytes AS totalMemory,
       memory_bytes_per_s AS memoryBandwidth,
       clock_khz * 1000 AS clockRate,
       multiprocessors AS smCount,
       NULL AS pwGpuId,
       CASE WHEN substr(uuid, 1, 4) = 'GPU-' THEN substr(uuid, 5) ELSE uuid END AS uuid,
       NULL AS luid,
       NULL AS chipName,
       id AS cuDevice,
       NULL AS ctxswDevPath,
       NULL AS ctrlDevPath,
       NULL AS revision,
       NULL AS nodeMask,
       constant_bytes AS constantMemory,
       NULL AS maxIPC,
       max_registers_per_block AS maxRegistersPerBlock,
       max_shared_per_block_bytes AS maxShmemPerBlock,
       NULL AS maxShmemPerBlockOptin,
       max_shared_per_sm_bytes AS maxShmemPerSm,
       max_registers_per_sm AS maxRegistersPerSm,
       warp_threads AS threadsPerWarp,
       copy_engines AS asyncEngines,
       max_warps_per_sm AS maxWarpsPerSm,
       max_blocks_per_sm AS maxBlocksPerSm,
       max_threads_per_block AS maxThreadsPerBlock,
       NULL AS maxBlockDimX,
       NULL AS maxBlockDimY,
       NULL AS maxBlockDimZ,
       NULL AS maxGridDimX,
       NULL AS maxGridDimY,
       NULL AS maxGridDimZ,
       sm_major AS computeMajor,
       sm_minor AS computeMinor,
       sm_major AS smMajor,
       sm_minor AS smMinor
FROM device;

-- view: The moment that the times of these views count from.
CREATE VIEW TARGET_INFO_SESSION_START_TIME AS
SELECT CAST(value AS INTEGER) AS utcEpochNs,
       strftime('%Y-%m-%dT%H:%M:%S', CAST(value AS INTEGER) / 1000000000, 'unixepoch') AS utcTime,
       NULL AS localTime
FROM meta
WHERE key = 'session_start_ns';

-- view: The export that these views imitate.
CREATE VIEW META_DATA_EXPORT AS
SELECT 'EXPORT_SCHEMA_VERSION' AS name, '3.16.1' AS value
UNION ALL SELECT 'EXPORT_SCHEMA_VERSION_MAJOR', '3'
UNION ALL SELECT 'EXPORT_SCHEMA_VERSION_MINOR', '16'
UNION ALL SELECT 'EXPORT_SCHEMA_VERSION_MICRO', '1'
UNION ALL SELECT 'EXPORT_PRODUCT_NAME', value FROM meta WHERE key = 'tool'
UNION ALL SELECT 'EXPORT_PRODUCT_VERSION', value FROM meta WHERE key = 'tool_version';

-- view: Values of copyKind and copy.copy_kind.
CREATE VIEW ENUM_CUDA_MEMCPY_OPER (id, name, label) AS
VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
       (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
       (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
       (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
       (4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'),
       (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
       (6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'),
       (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
       (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
       (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
       (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'),
       (11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device'),
       (12, 'CUDA_MEMCPY_KIND_UVM_DTOH', 'Unified Device-to-Host'),
       (13, 'CUDA_MEMCPY_KIND_UVM_DTOD', 'Unified Device-to-Device');

-- view: Values of srcKind, dstKind and memKind.
CREATE VIEW ENUM_CUDA_MEM_KIND (id, name, label) AS
VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
       (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
       (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
       (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
       (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
       (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
       (6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'),
       (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');

-- view: Values of memoryOperationType.
CREATE VIEW ENUM_CUDA_DEV_MEM_EVENT_OPER (id, name, label) AS
VALUES (0, 'CUDA_DEV_MEM_EVENT_OPR_ALLOCATION', 'Allocation'),
       (1, 'CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION', 'Deallocation');

-- view: Values of syncType and sync.type.
CREATE VIEW ENUM_CUPTI_SYNC_TYPE (id, name, label) AS
VALUES (0, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN', 'Unknown'),
       (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', 'Event sync'),
       (2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', 'Stream wait sync'),
       (3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', 'Stream sync'),
       (4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', 'Context sync');

-- === Indexes: made when all rows are in. ===
CREATE INDEX api_corr ON api (pid, corr);
CREATE INDEX api_thread ON api (tid, start_ns);
CREATE INDEX gpu_op_corr ON gpu_op (pid, corr);
CREATE INDEX gpu_op_device ON gpu_op (device_id, start_ns, end_ns);
CREATE INDEX gpu_op_stream ON gpu_op (context_id, stream_id, start_ns);
CREATE INDEX mem_event_address ON mem_event (pid, device_id, address, ts_ns);
CREATE INDEX nvtx_thread ON nvtx (tid, start_ns);
