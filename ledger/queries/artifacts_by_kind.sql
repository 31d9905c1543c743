-- Files of the ledger by kind: how many, how large
SELECT
  kind,
  count(*) AS files,
  sum(bytes) AS total_bytes,
  max(bytes) AS largest_bytes,
  file_name AS largest_file,
  min(added_utc) AS first_utc,
  max(added_utc) AS last_utc
FROM artifact
GROUP BY kind
ORDER BY total_bytes DESC
