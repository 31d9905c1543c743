-- Answers that many questions are made of.

-- view: The nine structural classes of the portfolio, equally weighted.
CREATE VIEW structural_class AS
SELECT column1 AS structural_class  -- name of the class
FROM (VALUES ('latency'), ('narrow_deep'), ('wide'), ('hash_heavy'), ('lookup_heavy'), ('irregular'), ('vm'), ('extreme'), ('sustained'));

-- view: Runs with the names of what they refer to.
CREATE VIEW run_list AS
SELECT
  r.row AS run,  -- row in table run
  r.run_id AS run_id,  -- digest of the report
  r.created_utc AS created_utc,  -- when
  w.workload_id AS workload_id,  -- readable name
  w.config AS config,  -- protocol configuration
  w.structural_class AS structural_class,  -- class of the workload
  r.backend AS backend,  -- cpu or cuda
  r.execution_mode AS execution_mode,  -- graphs or direct; NULL: no device
  e.environment_id AS environment_id,  -- where
  coalesce(e.device_name, e.cpu_model) AS machine,  -- its device, or its processor
  p.product_id AS product_id,  -- what ran
  p.source_commit AS source_commit,  -- revision it was built from
  p.dirty AS dirty,  -- 1: with changes
  r.verified_request_ns AS verified_request_ns,  -- median of the steady requests
  r.resident_prove_ns AS resident_prove_ns,  -- the same, proof alone
  r.device_ns AS device_ns,  -- the same on the device
  r.n_steady AS n_steady,  -- steady requests
  r.accounted_peak_bytes AS accounted_peak_bytes,  -- memory at its peak
  r.verified AS verified,  -- 1: our verifier accepted the proof
  r.oracle_accepted AS oracle_accepted,  -- 1: the outside verifier too; NULL: not asked
  r.eligible AS eligible,  -- 1: may count as evidence of speed
  r.n_flags AS n_flags  -- contract flags
FROM run AS r
JOIN workload AS w ON w.row = r.workload
JOIN environment AS e ON e.row = r.environment
JOIN product AS p ON p.row = r.product;

-- view: Verdicts that no later one corrects.
CREATE VIEW current_verdict AS
SELECT
  v.row AS verdict,  -- row in table verdict
  v.verdict_id AS verdict_id,  -- digest of the document
  v.created_utc AS created_utc,  -- when
  v.kind AS kind,  -- verdict or screen
  v.profile AS profile,  -- judge, screen or diagnostic
  v.outcome AS outcome,  -- keep, rejected, inconclusive, invalid or screen
  v.label_a AS label_a,  -- baseline
  v.label_b AS label_b,  -- candidate
  v.product_a AS product_a,  -- identity of the baseline
  v.product_b AS product_b,  -- identity of the candidate
  e.environment_id AS environment_id,  -- where
  coalesce(e.device_name, e.cpu_model) AS machine,  -- its device, or its processor
  p.ratio AS ratio,  -- portfolio ratio; below 1 is faster
  p.low AS low,  -- lower end of its interval
  p.high AS high,  -- upper end
  v.meets_minimum AS meets_minimum,  -- 1.3 times faster
  v.meets_objective AS meets_objective,  -- 2 times faster
  v.headline_eligible AS headline_eligible  -- may be quoted
FROM verdict AS v
JOIN environment AS e ON e.row = v.environment
LEFT JOIN estimate AS p ON p.verdict = v.row AND p.scope = 'portfolio'
WHERE NOT EXISTS (SELECT 1 FROM verdict AS n WHERE n.supersedes = v.row);

-- view: How a structural class has moved, verdict by verdict, never across environments.
CREATE VIEW class_history AS
SELECT
  c.environment_id AS environment_id,  -- where
  s.subject AS structural_class,  -- class
  c.created_utc AS created_utc,  -- when
  c.verdict_id AS verdict_id,  -- verdict
  c.outcome AS outcome,  -- its outcome
  c.label_a AS label_a,  -- baseline
  c.label_b AS label_b,  -- candidate
  s.ratio AS ratio,  -- ratio of the class; below 1 is faster
  s.low AS low,  -- lower end of its interval
  s.high AS high  -- upper end
FROM current_verdict AS c
JOIN estimate AS s ON s.verdict = c.verdict AND s.scope = 'class';

-- view: What the ledger is missing before a speed may be quoted, class by class.
CREATE VIEW evidence_gaps AS
SELECT
  c.structural_class AS structural_class,  -- class
  g.ordinal AS ordinal,  -- order in which to close the gaps
  g.gap AS gap,  -- what is missing
  g.mend AS mend  -- what would close it
FROM structural_class AS c
JOIN (
  SELECT 1 AS ordinal, 'eligible run' AS gap, 'stwo prove --backend cuda --report-out, then ledger add' AS mend
  UNION ALL SELECT 2, 'oracle receipt', 'a report with --oracle-receipt'
  UNION ALL SELECT 3, 'timeline capture', 'stwo-prof cuda systems, then ledger add'
  UNION ALL SELECT 4, 'kernel counters', 'stwo-prof cuda compute, then ledger add'
  UNION ALL SELECT 5, 'calibration', 'judge aa on the locked host, then ledger add'
  UNION ALL SELECT 6, 'kept verdict', 'judge run with the judge profile, then ledger add') AS g
WHERE NOT CASE g.ordinal
  WHEN 1 THEN EXISTS (
    SELECT 1 FROM workload AS w JOIN run AS r ON r.workload = w.row
    WHERE w.structural_class = c.structural_class AND r.backend = 'cuda' AND r.eligible = 1)
  WHEN 2 THEN EXISTS (
    SELECT 1 FROM workload AS w JOIN run AS r ON r.workload = w.row
    WHERE w.structural_class = c.structural_class AND r.backend = 'cuda' AND r.eligible = 1 AND r.oracle_accepted = 1)
  WHEN 3 THEN EXISTS (
    SELECT 1 FROM workload AS w JOIN capture AS k ON k.workload = w.row
    WHERE w.structural_class = c.structural_class AND k.kind = 'timeline' AND k.evidence = 'complete')
  WHEN 4 THEN EXISTS (
    SELECT 1 FROM workload AS w JOIN capture AS k ON k.workload = w.row
    WHERE w.structural_class = c.structural_class AND k.kind = 'counters' AND k.evidence = 'complete')
  WHEN 5 THEN EXISTS (
    SELECT 1 FROM calibration AS a WHERE a.structural_class = c.structural_class AND a.passed = 1)
  ELSE EXISTS (
    SELECT 1 FROM estimate AS s JOIN verdict AS v ON v.row = s.verdict
    WHERE s.scope = 'class' AND s.subject = c.structural_class AND v.outcome = 'keep' AND v.profile = 'judge'
      AND NOT EXISTS (SELECT 1 FROM verdict AS n WHERE n.supersedes = v.row))
  END;

CREATE INDEX workload_class ON workload (structural_class);
CREATE INDEX run_evidence ON run (workload, backend, eligible, oracle_accepted);
CREATE INDEX calibration_class ON calibration (structural_class, passed);
CREATE INDEX estimate_subject ON estimate (scope, subject);
