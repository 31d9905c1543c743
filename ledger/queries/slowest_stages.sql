-- Slowest stages among the newest runs of all workloads
-- :clock = device: device or host
-- :runs = 200: newest runs to look at
-- :limit = 50: rows
SELECT
  w.workload_id,
  w.config,
  coalesce(e.device_name, e.cpu_model) AS machine,
  r.run_id,
  t.stage,
  t.ns,
  1.0 * t.ns / nullif(total.ns, 0) AS share
FROM (SELECT row, run_id, workload, environment FROM run ORDER BY created_utc DESC LIMIT :runs) AS r
CROSS JOIN stage_time AS t
  ON t.run = r.row AND t.clock = :clock AND t.statistic = 'median' AND t.stage <> 'total'
CROSS JOIN stage_time AS total
  ON total.run = r.row AND total.clock = :clock AND total.statistic = 'median'
  AND total.stage = 'total'
CROSS JOIN workload AS w ON w.row = r.workload
CROSS JOIN environment AS e ON e.row = r.environment
ORDER BY t.ns DESC
LIMIT :limit
