-- Products, newest first, with the number of their runs and what they ran on
SELECT
  p.product_id,
  p.name,
  p.source_commit,
  p.dirty,
  p.build_type,
  count(*) AS runs,
  sum(r.eligible) AS eligible_runs,
  count(DISTINCT r.workload) AS workloads,
  count(DISTINCT r.environment) AS environments,
  min(r.created_utc) AS first_utc,
  max(r.created_utc) AS last_utc
FROM product AS p
CROSS JOIN run AS r ON r.product = p.row
GROUP BY p.row
ORDER BY last_utc DESC
