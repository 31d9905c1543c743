-- Memory of a workload's newest run per environment and backend, part by part
-- :workload: name of the workload
SELECT
  coalesce(e.device_name, e.cpu_model) AS machine,
  w.config,
  r.backend,
  r.run_id,
  m.part,
  m.bytes,
  1.0 * m.bytes / nullif(r.accounted_peak_bytes, 0) AS peak_share
FROM (
  SELECT n.row, max(n.created_utc)
  FROM workload AS x
  CROSS JOIN run AS n ON n.workload = x.row
  WHERE x.workload_id = :workload
  GROUP BY n.workload, n.environment, n.backend) AS newest
CROSS JOIN run AS r ON r.row = newest.row
CROSS JOIN workload AS w ON w.row = r.workload
CROSS JOIN environment AS e ON e.row = r.environment
CROSS JOIN memory_part AS m ON m.run = r.row
ORDER BY machine, w.config, r.backend, m.bytes DESC
