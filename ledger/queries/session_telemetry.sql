-- What device and host were like during the sessions of a verdict, arm by arm
-- :verdict: id of the verdict, or its beginning
SELECT
  s.workload_id,
  s.phase,
  s.round,
  s.slot,
  s.arm,
  s.voided,
  s.value_ns,
  t.metric,
  t.unit,
  t.min,
  t.mean,
  t.max
FROM (
  SELECT row FROM verdict
  WHERE verdict_id >= :verdict AND verdict_id < :verdict || 'g') AS v
CROSS JOIN session AS s ON s.verdict = v.row
LEFT JOIN telemetry AS t ON t.session = s.row
ORDER BY s.workload_id, s.phase, s.round, s.slot, t.metric
