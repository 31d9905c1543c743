-- Runs that did what a production run must not do: fallbacks, early copies, code compiled at run time
-- :limit = 100: rows
SELECT r.created_utc, r.run_id, w.workload_id, f.code, f.path, f.message
FROM contract_flag AS f
CROSS JOIN run AS r ON r.row = f.run
CROSS JOIN workload AS w ON w.row = r.workload
ORDER BY r.created_utc DESC, f.code
LIMIT :limit
