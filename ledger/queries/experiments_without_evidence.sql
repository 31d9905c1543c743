-- Experiments that are open or decided and have no link to a run, capture or verdict
SELECT experiment_id, number, slug, title, state, recorded_utc, decision, no_verdict_reason
FROM experiment_board
WHERE state <> 'draft' AND runs = 0 AND captures = 0 AND verdicts = 0
ORDER BY recorded_utc
