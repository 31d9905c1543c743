-- Kernels that moved more bytes to and from DRAM than the pass ledger of their plan predicts
-- :over = 1.25: smallest quotient of measured to predicted bytes
-- Captures that are linked to a run count, where they hold all launches of one or more requests.
WITH measured AS (
  SELECT
    c.capture_id,
    c.run,
    m.stage,
    m.kernel,
    count(DISTINCT m.launch) AS launches,
    sum(m.value) AS bytes,
    count(m.value) AS n_values
  FROM capture AS c
  CROSS JOIN counter AS m ON m.capture = c.row
    AND m.metric IN ('dram__bytes_read.sum', 'dram__bytes_write.sum')
  WHERE c.kind = 'counters' AND c.run IS NOT NULL
  GROUP BY c.row, m.stage, m.kernel
)
SELECT
  w.workload_id,
  x.capture_id,
  x.stage,
  x.kernel,
  x.launches AS captured_launches,
  sum(p.launches) AS request_launches,
  sum(p.input_bytes + p.output_bytes + p.reread_bytes) AS predicted_bytes,
  x.bytes * sum(p.launches) / x.launches AS dram_bytes,
  x.bytes * sum(p.launches) / x.launches
    / nullif(sum(p.input_bytes + p.output_bytes + p.reread_bytes), 0) AS ratio
FROM measured AS x
CROSS JOIN run AS r ON r.row = x.run
CROSS JOIN workload AS w ON w.row = r.workload
CROSS JOIN pass AS p ON p.plan = r.plan AND p.stage = x.stage AND p.kernel = x.kernel
WHERE x.n_values = 2 * x.launches
GROUP BY x.capture_id, x.stage, x.kernel
HAVING x.launches % sum(p.launches) = 0 AND ratio >= :over
ORDER BY ratio DESC
