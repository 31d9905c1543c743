-- Time of a steady request in which the device did not work, largest part first
-- :runs = 200: newest runs to look at
-- :limit = 50: rows
SELECT
  w.workload_id,
  w.config,
  e.device_name AS machine,
  r.execution_mode,
  r.run_id,
  r.resident_prove_ns,
  r.device_ns,
  r.resident_prove_ns - r.device_ns AS gap_ns,
  1.0 * (r.resident_prove_ns - r.device_ns) / nullif(r.resident_prove_ns, 0) AS gap_share,
  r.kernel_launches
FROM (SELECT * FROM run ORDER BY created_utc DESC LIMIT :runs) AS r
CROSS JOIN workload AS w ON w.row = r.workload
CROSS JOIN environment AS e ON e.row = r.environment
WHERE r.device_ns IS NOT NULL
ORDER BY gap_share DESC
LIMIT :limit
