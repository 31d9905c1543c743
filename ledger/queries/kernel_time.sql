-- Kernels with the most device time in timeline captures
-- :workload = : name of a workload; empty: all
-- :limit = 50: rows
SELECT
  w.workload_id,
  coalesce(e.device_name, e.cpu_model) AS machine,
  c.capture_id,
  c.evidence,
  k.stage,
  k.kernel,
  k.launches,
  k.total_ns,
  1.0 * k.total_ns / nullif(c.busy_ns, 0) AS busy_share,
  k.median_ns,
  k.grid,
  k.block,
  k.registers_per_thread
FROM capture AS c
LEFT JOIN workload AS w ON w.row = c.workload
LEFT JOIN environment AS e ON e.row = c.environment
CROSS JOIN kernel_stat AS k ON k.capture = c.row
WHERE c.kind = 'timeline' AND (:workload = '' OR w.workload_id = :workload)
ORDER BY k.total_ns DESC
LIMIT :limit
