-- Reasons of the verdicts that nobody has corrected, by code
SELECT
  x.code,
  count(DISTINCT v.row) AS verdicts,
  count(*) AS reasons,
  group_concat(DISTINCT v.outcome) AS outcomes,
  group_concat(DISTINCT x.workload_id) AS workloads,
  max(v.created_utc) AS last_utc
FROM verdict AS v
CROSS JOIN verdict_reason AS x ON x.verdict = v.row
WHERE NOT EXISTS (SELECT 1 FROM verdict AS n WHERE n.supersedes = v.row)
GROUP BY x.code
ORDER BY verdicts DESC, x.code
