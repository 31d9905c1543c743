-- Newest appends: when, by which program, what
-- :limit = 50: rows
SELECT
  e.seq,
  e.recorded_utc,
  e.kind,
  e.subject,
  e.tool_version,
  (SELECT group_concat(n.row_count || ' ' || n.table_name, ', ')
   FROM entry_rows AS n WHERE n.seq = e.seq) AS rows,
  e.entry_sha256
FROM entry AS e
ORDER BY e.seq DESC
LIMIT :limit
