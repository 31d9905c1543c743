#!/usr/bin/env python3
"""Times the questions of `ledger` as a user meets them: whole process, warm cache.

    ledger_ingest_bench --make capture.sptrace 10000000
    make_ledger big.db tests/data/ledger/documents/cuda_report.json 10000 capture.sptrace
    ledger_questions.py build/cpu/bin/ledger big.db
"""
import json
import statistics
import subprocess
import sys
import time

REPEATS = 21


def main():
    if len(sys.argv) != 3:
        sys.exit("ledger_questions: usage: ledger_questions.py PROGRAM LEDGER")
    base = [sys.argv[1], "--ledger", sys.argv[2]]
    rows = json.loads(subprocess.check_output(base + ["runs", "--json"]))["rows"]
    newest, workload = rows[0]["run_id"], rows[0]["workload_id"]
    other = next(r["run_id"] for r in rows[1:] if r["workload_id"] == workload)
    capture = json.loads(subprocess.check_output(
        base + ["query", "SELECT capture_id, n_operations FROM capture ORDER BY n_operations DESC LIMIT 1",
                "--json"]))["rows"][0]
    kernel = ["query", "--trace", capture["capture_id"],
              "SELECT count(*), sum(g.end_ns - g.start_ns) FROM trace.gpu_op AS g "
              "WHERE g.pid = 1 AND g.corr BETWEEN 1000 AND 2000"]
    questions = [
        ["runs"], ["runs", "--workload", workload], ["stages", newest], ["stages", "--workload", workload],
        ["compare", newest, other], ["history", "--workload", workload], ["passes", newest],
        ["passes", newest, "--against", other], ["hypotheses", "--open"], ["gaps"], ["verdicts"],
        ["query", "SELECT stage, ns FROM stage_time WHERE run = 5000 AND statistic = 'median'"],
        ["query", "SELECT kernel, total_ns FROM kernel_stat WHERE capture = 1 ORDER BY total_ns DESC LIMIT 10"],
        kernel, ["schema"]]
    print(f"capture of {capture['n_operations']} device operations; median and maximum of {REPEATS}, ms")
    for question in questions:
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            subprocess.run(base + question, check=True, stdout=subprocess.DEVNULL)
            times.append((time.perf_counter() - start) * 1e3)
        shown = " ".join(w if len(w) < 40 else w[:36] + "..." for w in question)
        print(f"{statistics.median(times):8.1f} {max(times):8.1f}  {shown}")


if __name__ == "__main__":
    main()
