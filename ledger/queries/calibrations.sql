-- Newest calibration of every environment and structural class, with its age
SELECT
  e.environment_id,
  coalesce(e.device_name, e.cpu_model) AS machine,
  c.structural_class,
  max(c.created_utc) AS created_utc,
  round(julianday('now') - julianday(max(c.created_utc)), 1) AS age_days,
  c.rounds,
  c.low,
  c.high,
  c.delta,
  c.theta,
  c.passed,
  c.calibration_id
FROM environment AS e
CROSS JOIN calibration AS c ON c.environment = e.row
GROUP BY e.row, c.structural_class
ORDER BY e.environment_id, c.structural_class
