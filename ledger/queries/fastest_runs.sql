-- Fastest steady request per workload, configuration, backend and environment
-- :backend = cuda: cuda or cpu
SELECT
  w.workload_id,
  w.config,
  w.structural_class,
  e.environment_id,
  coalesce(e.device_name, e.cpu_model) AS machine,
  r.execution_mode,
  count(*) AS runs,
  min(r.verified_request_ns) AS verified_request_ns,
  r.device_ns,
  r.run_id,
  r.created_utc
FROM workload AS w
CROSS JOIN run AS r ON r.workload = w.row
CROSS JOIN environment AS e ON e.row = r.environment
WHERE r.backend = :backend AND r.verified_request_ns IS NOT NULL
GROUP BY w.row, r.environment, r.execution_mode
ORDER BY w.workload_id, w.config, e.environment_id
