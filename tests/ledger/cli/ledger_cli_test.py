#!/usr/bin/env python3
"""Runs the built `ledger` program through everything a user can do right and wrong.

usage: ledger_cli_test.py LEDGER STWO [--source REPOSITORY] [TEST ...]

STWO makes the reports. With --source, every error code in the sources must be in --list-codes, and the
CUDA report of the test data is used too.
"""

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TIMEOUT = 120
OPTIONS = None
REPORTS = {}

COMMANDS = [["init"], ["add"], ["runs"], ["stages"], ["compare"], ["history"], ["passes"],
            ["hypotheses"], ["gaps"], ["verdicts"], ["show"], ["query"], ["schema"], ["check"],
            ["backup"], ["export"], ["merge"], ["migrate"]]
RECORD_COMMANDS = ["new", "edit-draft", "open", "update", "link", "unlink", "decide", "show", "list",
                   "export", "import"]


def content(path):
    with open(path, "rb") as f:
        return f.read()


def sha256_of(path):
    return hashlib.sha256(content(path)).hexdigest()


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def make_reports(directory):
    """Two reports of one statement, one of another; made once, by the real prover."""
    for name, columns in (("first", 8), ("second", 8), ("other", 9)):
        report = os.path.join(directory, name + ".json")
        subprocess.run([OPTIONS.stwo, "prove", "--air", "wide_fibonacci", "--log-n-rows", "5",
                        "--sequence-len", str(columns), "--config", "fast", "--warmup", "1",
                        "--repeat", "2", "--output", os.path.join(directory, name + ".proof"),
                        "--report-out", report], check=True, stdout=subprocess.DEVNULL,
                       timeout=TIMEOUT)
        REPORTS[name] = report
    if OPTIONS.source:
        cuda = os.path.join(OPTIONS.source, "tests/data/ledger/documents/cuda_report.json")
        if os.path.exists(cuda):
            REPORTS["cuda"] = cuda


def sample_verdict(supersedes=None, outcome="keep", created="2026-03-04T05:06:07Z"):
    """A verdict with one workload, a cold pair and two rounds; B takes 0.7 of A's time."""
    workload = "wide_fibonacci_log5x8"
    sessions, rounds = [], []

    def session(phase, number, slot, arm, value):
        sessions.append({
            "workload_id": workload, "config": "fast", "phase": phase, "round": number,
            "slot": slot, "arm": arm, "report_sha256": digest(f"{phase}{number}{slot}{created}"),
            "value_ns": value, "samples_ns": [value - 1000, value + 2000, value], "voided": False,
            "telemetry": [{"metric": "sm_clock", "unit": "MHz", "samples": 3, "min": 1.0,
                           "mean": 2.0, "max": 3.0}]})

    session("cold", 0, 0, "A", 900_000_000)
    session("cold", 0, 1, "B", 880_000_000)
    for number in range(2):
        logs = {"A": 0.0, "B": 0.0}
        for slot in range(4):
            arm = "A" if (slot in (0, 3)) == (number % 2 == 0) else "B"
            value = 1_000_000 if arm == "A" else 700_000
            logs[arm] += math.log(value) / 2
            session("round", number, slot, arm, value)
        rounds.append({"workload_id": workload, "config": "fast", "round": number,
                       "d": logs["B"] - logs["A"]})

    def arm(label):
        return {"label": label, "identity_sha256": digest("identity " + label),
                "binary_sha256": digest("binary " + label), "source_commit": "a" * 40,
                "dirty": False}

    def estimate(scope, subject, ratio):
        return {"scope": scope, "subject": subject, "ratio": ratio, "low": ratio * 0.99,
                "high": ratio * 1.01}

    classes = ["narrow_deep", "wide", "hash_heavy", "lookup_heavy", "irregular", "vm", "extreme",
               "sustained"]
    keep = outcome == "keep"
    return {
        "schema": "stwo_judge_verdict_v1", "kind": "verdict", "profile": "judge",
        "judge_id": "01JNFKZ3X8Q2V5W7Y9A0B1C2D3", "created_utc": created,
        "tool": {"name": "judge", "version": "0.1.0", "source_commit": "b" * 40},
        "supersedes": supersedes,
        "spec": {"sha256": digest("spec"), "rounds": 2, "seed_sha256": digest("seed"),
                 "workloads": [{"workload_id": workload, "config": "fast",
                                "structural_class": "latency"}]},
        "environment": {"environment_id": digest("environment"), "kind": "judge_host",
                        "device_uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef",
                        "device_name": "Synthetic device", "sm": 90,
                        "driver_version": "580.95.05", "cpu_model": "Synthetic processor",
                        "logical_cpus": 16, "kernel": "6.1.0"},
        "arms": {"A": arm("main"), "B": arm("candidate")},
        "sessions": sessions, "rounds": rounds,
        "estimates": [estimate("workload", workload, 0.7), estimate("class", "latency", 0.7),
                      estimate("portfolio", "", 0.7), estimate("cold", "", 0.98)],
        "theta": 0.0125, "outcome": outcome,
        "flags": {"meets_minimum": keep, "meets_objective": False, "headline_eligible": False},
        "classes_missing": [{"structural_class": c, "reason": "no AIR of this class"}
                            for c in classes],
        "reasons": [{"code": "CLASSES_MISSING", "scope": None, "observed": "1 class",
                     "allowed": "9 classes"}],
        "artifacts": [{"sha256": digest("report"), "kind": "product_report"}]}


def make_trace(path):
    """A finished capture with one device operation, made from the schema alone."""
    schema = content(os.path.join(OPTIONS.source, "ledger/schema/trace/0001_trace.sql")).decode()
    database = sqlite3.connect(path)
    database.executescript(schema)
    for key, value in (("tool", "test"), ("tool_version", "1"), ("finalized", "1"),
                       ("created_utc", "2026-01-01T00:00:00.000Z"), ("session_start_ns", "1000"),
                       ("trailer", "1")):
        database.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
    database.execute("INSERT INTO gpu_op (pid, kind, device_id, context_id, stream_id, start_ns, "
                     "end_ns, corr) VALUES (1, 3, 0, 1, 1, 2000, 3000, 7)")
    database.execute("INSERT INTO fill VALUES (1, 0, 64, 3)")
    database.execute("INSERT INTO seal VALUES (?)", ("0" * 64,))
    database.commit()
    database.close()
    unsealed = content(path)
    at = unsealed.index(b"0" * 64)
    seal = hashlib.sha256(unsealed).hexdigest().encode()
    with open(path, "wb") as f:
        f.write(unsealed[:at] + seal + unsealed[at + 64:])
    return path


class LedgerTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="ledger_cli_test.")

    def tearDown(self):
        subprocess.run(["chmod", "-R", "u+w", self.directory], check=True)
        shutil.rmtree(self.directory)

    def run_ledger(self, *arguments, stdout=subprocess.PIPE, env=None, limit=None):
        def set_limit():
            if limit:
                import resource
                resource.setrlimit(limit[0], (limit[1], limit[1]))
        environment = {k: v for k, v in os.environ.items() if k != "STWO_LEDGER"}
        done = subprocess.run([OPTIONS.ledger, *map(str, arguments)], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              timeout=TIMEOUT, env={**environment, **(env or {})},
                              preexec_fn=set_limit)
        out = done.stdout.decode(errors="replace") if done.stdout is not None else ""
        return done.returncode, out, done.stderr.decode(errors="replace")

    def ok(self, *arguments, **options):
        """Output of a command that must succeed."""
        code, out, err = self.run_ledger(*arguments, **options)
        self.assertEqual(code, 0, f"{arguments}: {err}")
        self.assertEqual(err, "", arguments)
        return out

    def json(self, *arguments, exit_code=0):
        code, out, err = self.run_ledger(*arguments, "--json")
        self.assertEqual(code, exit_code, f"{arguments}: {out} {err}")
        self.assertEqual(out.count("\n"), 1, f"{arguments}: not one line")
        return json.loads(out)

    def rows(self, *arguments):
        table = self.json(*arguments)
        self.assertEqual(table["schema"], "stwo_ledger_table_v1")
        for row in table["rows"]:
            self.assertEqual(list(row), table["columns"])
        return table["rows"]

    def error(self, code, exit_code, *arguments, **options):
        """One line on stderr in text mode, one object on stdout with --json; nothing else."""
        name = " ".join(map(str, arguments))[:160]
        got, out, err = self.run_ledger(*arguments, **options)
        self.assertEqual(got, exit_code, f"{name}: {err}")
        self.assertRegex(err, r"\Aledger: [A-Z0-9_]+: [^\n]+\n\Z", name)
        self.assertTrue(err.startswith(f"ledger: {code}: "), f"{name}: expected {code}, got {err}")
        self.assertEqual(out, "", name)
        got, out, err_json = self.run_ledger(*arguments, "--json", **options)
        self.assertEqual((got, err_json), (exit_code, ""), name)
        found = json.loads(out)
        self.assertEqual((found["schema"], found["code"], found["context"]["exit_code"]),
                         ("stwo_error_v1", code, exit_code), name)
        self.assertNotIn("\n", found["message"])
        return err

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, what):
        if not isinstance(what, (str, bytes)):
            what = json.dumps(what)
        with open(self.path(name), "wb") as f:
            f.write(what if isinstance(what, bytes) else what.encode())
        return name

    def read(self, name):
        return content(self.path(name))

    def filled(self, *names):
        """A ledger with these reports; returns their ids."""
        self.ok("init")
        self.ok("add", *[REPORTS[n] for n in names])
        return [sha256_of(REPORTS[n]) for n in names]


class Program(LedgerTest):
    def test_help_of_every_command(self):
        for command in ([[]] + COMMANDS + [[k, c] for k in ("experiment", "brief")
                                           for c in RECORD_COMMANDS] + [["experiment"], ["brief"]]):
            out = self.ok(*command, "--help")
            self.assertIn("Examples:\n  ledger", out, command)
            self.assertTrue(out.split("Examples:")[1].strip(), command)
            self.assertIn("Usage: " + " ".join(["ledger"] + command) + " ", out)
            for word in ("/" + "work", "TO" + "DO"):
                self.assertNotIn(word, out)

    def test_version_and_codes(self):
        self.assertRegex(self.ok("--version"), r"\Aledger \d+\.\d+\.\d+, SQLite 3\.\d+")
        version = self.json("--version")
        self.assertEqual(version["schema"], "stwo_ledger_version_v1")
        codes = self.json("--list-codes")["codes"]
        names = [c["code"] for c in codes]
        self.assertEqual(names, sorted(names))
        text = self.ok("--list-codes")
        for c in codes:
            self.assertIn(c["code"], text)
            self.assertIn(c["meaning"], text)
            self.assertIn(c["exit_code"], (2, 3, 4, 5, 70))

    def test_codes_of_the_sources_are_listed(self):
        if not OPTIONS.source:
            self.skipTest("needs --source")
        listed = {}
        for c in self.json("--list-codes")["codes"]:
            exits = listed.setdefault(c["code"], set())
            exits.add(c["exit_code"])
            exits.add(c.get("exit_code_in_files", c["exit_code"]))
        kinds = {"UsageError": 2, "FormatError": 3, "EnvironmentError": 4, "RefusedError": 5}
        wrong = []
        used = set()
        for folder in ("ledger", "prover/report", "prover/cli/output_file.cpp"):
            top = os.path.join(OPTIONS.source, folder)
            files = [top] if os.path.isfile(top) else [
                os.path.join(d, n) for d, _, names in os.walk(top) for n in names]
            for file in files:
                if not file.endswith((".cpp", ".hpp")) or file.endswith("cli/error_codes.cpp"):
                    continue
                source = content(file).decode()
                for kind, code in re.findall(r"(\w+Error)\(\s*\"([A-Z0-9_]+)\"", source):
                    used.add(code)
                    if kind in kinds and kinds[kind] not in listed.get(code, ()):
                        wrong.append(f"{file}: {kind} {code}")
                codes = re.findall(r"\"((?:[A-Z][A-Z0-9]*)(?:_[A-Z0-9]+)+)\"", source)
                used.update(codes)
                for code in codes:
                    # Names of environment variables, and codes of flags, which are no errors.
                    if code.startswith(("STWO_", "FLAG_")) or code == "CHECK_" or code in listed:
                        continue
                    # The report's checker completes some of its codes.
                    if any(known.startswith(code + "_") for known in listed):
                        continue
                    if re.search(rf"(?:Error\(|code|{{)[^\n]*\"{code}\"", source):
                        wrong.append(f"{file}: {code}")
        self.assertEqual(wrong, [])
        elsewhere = {"CONTRACT", "INTERNAL", "STDOUT", "USAGE"}
        made = {c for c in listed if any(c.startswith(u + "_") for u in used)}
        self.assertEqual(set(listed) - used - elsewhere - made, set(), "codes nobody uses")

    def test_wrong_command_lines(self):
        self.error("USAGE", 2)
        self.error("USAGE", 2, "nonsense")
        self.error("USAGE", 2, "runs", "--bogus")
        self.error("USAGE", 2, "runs", "extra")
        self.error("USAGE", 2, "add")
        self.error("USAGE", 2, "compare", "last")
        self.error("USAGE", 2, "history")
        self.error("USAGE", 2, "experiment")
        self.error("USAGE", 2, "experiment", "new", "--title", "x")
        self.error("USAGE", 2, "init", "a.db", "--ledger", "b.db")
        self.error("USAGE", 2, "--ledger", "a.db", "runs", "--ledger", "b.db")
        self.error("USAGE", 2, "schema", "run", "--markdown")
        code, _, err = self.run_ledger("--json", "runs")
        self.assertEqual(code, 2)
        code, _, err = self.run_ledger("runs", "--json", "--csv")
        self.assertEqual(code, 2)
        self.ok("init")
        for value in ("x", "-1", "1.5", "99999999999", " 5"):
            self.error("NUMBER", 2, "runs", f"--wait={value}")
            self.error("NUMBER", 2, "runs", f"--limit={value}")
        self.error("NUMBER", 2, "runs", "--limit", "0")
        self.error("USAGE", 2, "runs", "--backend", "metal")
        self.error("USAGE", 2, "verdicts", "--outcome", "good")

    def test_which_ledger(self):
        self.error("LEDGER_MISSING", 2, "runs")
        self.ok("init", "a.db")
        self.ok("--ledger", "a.db", "runs")
        self.ok("runs", "--ledger", "a.db")
        self.ok("runs", env={"STWO_LEDGER": "a.db"})
        self.error("LEDGER_MISSING", 2, "runs", env={"STWO_LEDGER": ""})
        self.error("LEDGER_MISSING", 2, "runs", "--ledger", "b.db", env={"STWO_LEDGER": "a.db"})
        self.ok("init", env={"STWO_LEDGER": "c.db"})
        self.assertTrue(os.path.exists(self.path("c.db")))

    def test_init(self):
        made = self.json("init")
        self.assertEqual(made["schema"], "stwo_ledger_init_v1")
        self.assertRegex(made["ledger_id"], r"\A[0-9A-Z]{26}\Z")
        self.error("OUTPUT_EXISTS", 5, "init")
        self.error("OUTPUT_DIRECTORY", 2, "init", "missing/ledger.db")
        self.write("empty.db", "")
        self.error("LEDGER_FOREIGN", 3, "runs", "--ledger", "empty.db")
        self.error("OUTPUT_EXISTS", 5, "init", "empty.db")
        other = sqlite3.connect(self.path("other.db"))
        other.execute("CREATE TABLE t (a)")
        other.commit()
        other.close()
        self.error("LEDGER_FOREIGN", 3, "runs", "--ledger", "other.db")
        self.write("text.db", "this is a text and no database " * 40)
        self.error("LEDGER_CORRUPT", 3, "runs", "--ledger", "text.db")
        os.mkdir(self.path("folder.db"))
        self.error("LEDGER_OPEN", 2, "runs", "--ledger", "folder.db")

    def test_full_stdout(self):
        self.filled("first")
        with open("/dev/full", "wb") as full:
            code, _, err = self.run_ledger("runs", stdout=full)
        self.assertEqual(code, 4)
        self.assertIn("ledger: STDOUT: ", err)
        # A reader that has gone away ends the program quietly.
        read_end, write_end = os.pipe()
        os.close(read_end)
        code, _, err = self.run_ledger("runs", stdout=write_end)
        os.close(write_end)
        self.assertIn(code, (-signal.SIGPIPE, 4))


class Adding(LedgerTest):
    def test_twice_is_once(self):
        self.ok("init")
        first = self.json("add", REPORTS["first"])
        self.assertIsInstance(first, list)
        self.assertEqual([(r["added"], r["kind"], r["error"]) for r in first],
                         [(True, "product_report", None)])
        self.assertEqual(first[0]["id"],
                         sha256_of(REPORTS["first"]))
        head = self.json("check")["head"]
        again = self.json("add", REPORTS["first"])
        self.assertEqual((again[0]["added"], again[0]["rows"]), (False, 0))
        self.assertEqual(self.json("check")["head"], head)
        self.assertIn("already there", self.ok("add", REPORTS["first"]))
        self.assertEqual(len(self.rows("runs")), 1)

    def test_a_bad_file_does_not_keep_others_out(self):
        self.ok("init")
        bad = self.write("bad.json", "{")
        code, out, err = self.run_ledger("add", REPORTS["first"], bad, "missing.json",
                                         REPORTS["other"])
        self.assertEqual(code, 3)
        self.assertEqual([line.split(": ")[1] for line in err.splitlines()],
                         ["DOCUMENT_JSON", "ARTIFACT_SOURCE"])
        self.assertIn("2 of 4 files added, 2 failed", out)
        self.assertEqual(len(self.rows("runs")), 2)
        results = self.json("add", "missing.json", bad, REPORTS["second"], exit_code=2)
        self.assertEqual([r["error"] and r["error"]["code"] for r in results],
                         ["ARTIFACT_SOURCE", "DOCUMENT_JSON", None])
        self.assertTrue(self.json("check")["sound"])

    def test_wrong_inputs(self):
        self.ok("init")
        before = self.json("check")["head"]
        report = content(REPORTS["first"]).decode()
        cases = {
            "empty.json": ("", "DOCUMENT_JSON"),
            "malformed.json": (report[:-40], "DOCUMENT_JSON"),
            "array.json": ("[1, 2]", None),
            "unknown.json": ('{"schema":"somebody_elses_v1"}', "DOCUMENT_SCHEMA"),
            "nothing.json": ("{}", None),
            "twice.json": (report.replace('{', '{"schema":"x",', 1), None),
            "changed.json": (re.sub(r'"verified": *true', '"verified":"yes"', report), None),
            "deep.json": ("[" * 100_000, None),
            "zeros.json": (b"\0" * 4096, None),
            "latin.json": (b'{"schema":"\xe4"}', None),
        }
        for name, (text, code) in cases.items():
            self.write(name, text)
            got, out, err = self.run_ledger("add", name)
            self.assertEqual(got, 3, f"{name}: {err}")
            self.assertRegex(err, r"\Aledger: [A-Z_]+: [^\n]+\n\Z", name)
            if code:
                self.assertTrue(err.startswith(f"ledger: {code}: "), err)
            self.assertIn("0 of 1 files added", out)
        os.mkdir(self.path("folder"))
        for name in ("folder", "missing.json", "/dev/null"):
            got, _, err = self.run_ledger("add", name)
            self.assertEqual(got, 2, name)
            self.assertTrue(err.startswith("ledger: ARTIFACT_SOURCE: "), err)
        self.assertEqual(self.json("check")["head"], before)
        # A database that is neither ledger nor capture.
        got, _, err = self.run_ledger("add", "ledger.db")
        self.assertEqual(got, 3, err)

    def test_read_only_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        self.filled("first")
        os.chmod(self.directory, 0o500)
        self.ok("runs")
        got, _, err = self.run_ledger("add", REPORTS["second"])
        self.assertEqual(got, 4, err)

    def test_waits_for_another_writer(self):
        self.filled("first")
        other = sqlite3.connect(self.path("ledger.db"))
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        code, out, err = self.run_ledger("add", "--wait", "2", REPORTS["second"])
        self.assertGreater(time.monotonic() - begin, 1.5)
        self.assertEqual(code, 5)
        lines = err.splitlines()
        self.assertEqual(lines[0], "ledger: waiting for another writer of ledger.db")
        self.assertTrue(lines[1].startswith("ledger: LEDGER_BUSY: "), err)
        self.assertEqual(len(lines), 2)
        # Readers do not wait.
        self.ok("runs", "--wait", "0")
        other.rollback()
        other.close()
        self.ok("add", REPORTS["second"])


class Questions(LedgerTest):
    def test_runs(self):
        ids = self.filled("first", "second", "other")
        rows = self.rows("runs")
        self.assertEqual({r["run_id"] for r in rows}, set(ids))
        row = rows[0]
        self.assertIsInstance(row["verified_request_ns"], int)
        self.assertIsNone(row["device_ns"])
        self.assertEqual(row["backend"], "cpu")
        text = self.ok("runs")
        self.assertIn(ids[0][:12], text)
        self.assertNotIn(ids[0][:13], text)
        self.assertIn("verified_request ms", text)
        self.assertEqual(len(self.rows("runs", "--limit", "1")), 1)
        self.assertEqual(len(self.rows("runs", "--workload", "wide_fibonacci_log5x8")), 2)
        self.assertEqual(len(self.rows("runs", "--product", row["product_id"][:8])), 3)
        self.assertEqual(len(self.rows("runs", "--environment", row["environment_id"][:6])), 3)
        self.assertEqual(self.rows("runs", "--backend", "cuda"), [])
        self.assertEqual(self.ok("runs", "--backend", "cuda"), "no rows\n")
        self.error("WORKLOAD_NOT_FOUND", 2, "runs", "--workload", "wide")
        self.error("PRODUCT_NOT_FOUND", 2, "runs", "--product", "0000000")
        self.error("ID_FORMAT", 2, "runs", "--environment", "abc")
        lines = self.ok("runs", "--csv").split("\r\n")
        self.assertTrue(lines[0].startswith("run_id,created_utc,"))
        self.assertEqual(len(lines), 5)

    def test_stages(self):
        ids = self.filled("first", "second")
        for arguments in (["stages"], ["stages", "last"], ["stages", ids[0][:10]]):
            rows = self.rows(*arguments)
            total = next(r["ns"] for r in rows if r["stage"] == "total")
            shares = [r["share"] for r in rows if r["stage"] != "total"]
            self.assertEqual(shares, sorted(shares, reverse=True))
            for row in rows:
                self.assertAlmostEqual(row["share"], row["ns"] / total)
        report = json.loads(content(REPORTS["first"]))
        median = report["stage_ns"]["median"]
        for row in self.rows("stages", ids[0]):
            self.assertEqual(row["ns"], median[row["stage"]])
        rows = self.rows("stages", "--workload", "wide_fibonacci_log5x8")
        self.assertEqual({r["runs"] for r in rows}, {2})
        self.error("USAGE", 2, "stages", "last", "--workload", "wide_fibonacci_log5x8")
        self.error("USAGE", 2, "stages", "--backend", "cpu")
        self.error("RUN_NOT_FOUND", 2, "stages", "0" * 64)
        self.error("ID_FORMAT", 2, "stages", "latest")

    def test_compare_and_history(self):
        ids = self.filled("first", "second")
        table = self.json("compare", ids[0][:9], ids[1])
        self.assertEqual(table["about"], {"a": ids[0], "b": ids[1]})
        by_item = {(r["section"], r["item"]): r for r in table["rows"]}
        row = by_item[("steady request", "verified_request")]
        self.assertAlmostEqual(row["ratio"], row["b"] / row["a"])
        self.assertEqual(row["delta"], row["b"] - row["a"])
        self.assertEqual(by_item[("identity", "workload")]["same"], 1)
        self.assertIn("steady request", self.ok("compare", ids[0], "last"))
        rows = self.rows("history", "--workload", "wide_fibonacci_log5x8")
        self.assertEqual(len(rows), 2)
        self.assertIsNone(rows[0]["ratio"])
        self.assertAlmostEqual(rows[1]["ratio"], rows[1]["verified_request_ns"]
                               / rows[0]["verified_request_ns"])
        self.error("RUN_NOT_FOUND", 2, "compare", "last", "f" * 64)

    def test_passes(self):
        self.filled("first")
        self.error("PLAN_NOT_FOUND", 2, "passes")
        if "cuda" not in REPORTS:
            self.skipTest("needs --source")
        self.ok("add", REPORTS["cuda"])
        run = sha256_of(REPORTS["cuda"])
        ledger = json.loads(content(REPORTS["cuda"]))["pass_ledger"]
        rows = self.rows("passes", run)
        passes = [r for r in rows if r["pass"] != "total"]
        self.assertEqual([(p["stage"], p["pass"], p["kernel"], p["input_bytes"]) for p in ledger],
                         [(r["stage"], r["pass"], r["kernel"], r["input_bytes"]) for r in passes])
        self.assertEqual(rows[-1]["launches"], sum(p["launches"] for p in ledger))
        against = self.json("passes", run[:8], "--against", run)
        self.assertIn("both have the same plan", against["notes"])
        self.assertTrue(all(r["traffic_delta_bytes"] == 0 for r in against["rows"]))
        stages = self.json("stages", run)
        self.assertEqual({r["clock"] for r in stages["rows"]}, {"device", "host"})
        # Another environment: no ratio of times.
        compared = self.json("compare", run, self.rows("runs", "--backend", "cpu")[0]["run_id"])
        self.assertTrue(any("not comparable" in n for n in compared["notes"]))
        self.assertTrue(all(r["ratio"] is None for r in compared["rows"] if r["unit"] == "ns"))

    def test_evidence(self):
        self.filled("first")
        self.write("verdict.json", sample_verdict())
        self.ok("add", "verdict.json")
        old = self.rows("verdicts")[0]["verdict_id"]
        self.write("corrected.json", sample_verdict(supersedes=old, outcome="inconclusive",
                                                    created="2026-03-05T00:00:00Z"))
        self.ok("add", "corrected.json")
        self.assertEqual([r["outcome"] for r in self.rows("verdicts")], ["inconclusive"])
        rows = self.rows("verdicts", "--all")
        self.assertEqual([r["outcome"] for r in rows], ["inconclusive", "keep"])
        self.assertEqual(rows[1]["superseded_by"], rows[0]["verdict_id"])
        self.assertEqual(len(self.rows("verdicts", "--all", "--outcome", "keep")), 1)
        self.write("orphan.json", sample_verdict(supersedes="0" * 64))
        code, _, err = self.run_ledger("add", "orphan.json")
        self.assertEqual(code, 3)
        self.assertIn("SUPERSEDES_MISSING", err)
        gaps = self.rows("gaps")
        self.assertEqual({r["structural_class"] for r in gaps} >= {"latency", "wide"}, True)
        self.assertEqual(self.rows("hypotheses"), [])

    def test_show(self):
        ids = self.filled("first")
        for arguments in (["show", ids[0][:6]], ["show", "last"]):
            facts = {r["item"]: r["value"] for r in self.rows(*arguments)}
            self.assertEqual((facts["kind"], facts["run_id"]), ("run", ids[0]))
        self.error("ID_NOT_FOUND", 2, "show", "0" * 64)
        self.error("ID_FORMAT", 2, "show", "abc")
        head = self.json("check")["head"]
        self.assertEqual(self.rows("show", head)[0]["value"], "entry")


class Query(LedgerTest):
    def setUp(self):
        super().setUp()
        self.ids = self.filled("first", "second")

    def test_select(self):
        table = self.json("query", "SELECT run_id, n_steady, NULL AS x FROM run ORDER BY row")
        self.assertEqual(table["columns"], ["run_id", "n_steady", "x"])
        self.assertEqual(table["rows"], [{"run_id": i, "n_steady": 2, "x": None} for i in self.ids])
        self.assertEqual(table["truncated"], False)
        for sql in ("WITH a AS (SELECT 1 AS b) SELECT * FROM a;", "EXPLAIN SELECT 1",
                    "EXPLAIN QUERY PLAN SELECT * FROM run", "VALUES (1), (2)",
                    "SELECT * FROM run_list -- the end",
                    "PRAGMA table_info(run)", "PRAGMA user_version"):
            self.ok("query", sql)
        self.assertEqual(self.ok("query", "SELECT 'a,b' AS x, 1.5 AS y", "--csv"),
                         'x,y\r\n"a,b",1.5\r\n')

    def test_only_reads(self):
        before = self.json("check")["head"]
        for sql in ("DELETE FROM run", "UPDATE run SET backend = 'cuda'", "DROP TABLE run",
                    "INSERT INTO meta (key, value) VALUES ('a', 'b')", "CREATE TABLE t (a)",
                    "CREATE TEMP TABLE t (a)", "ATTACH 'x.db' AS x", "DETACH main", "VACUUM",
                    "VACUUM INTO 'copy.db'", "BEGIN", "COMMIT", "SAVEPOINT a",
                    "PRAGMA user_version = 9", "PRAGMA query_only = OFF", "PRAGMA writable_schema=1",
                    "PRAGMA journal_mode = DELETE", "PRAGMA foreign_keys = OFF", "REINDEX",
                    "ANALYZE", "SELECT load_extension('x')"):
            code, out, err = self.run_ledger("query", sql)
            self.assertEqual(code, 5, f"{sql}: {out} {err}")
            self.assertRegex(err, r"\Aledger: LEDGER_QUERY_REFUSED: [^\n]+\n\Z", sql)
        self.error("LEDGER_QUERY_REFUSED", 5, "query", "DELETE FROM run")
        self.assertFalse(os.path.exists(self.path("x.db")))
        self.assertEqual(self.json("check")["head"], before)

    def test_wrong_sql(self):
        self.error("LEDGER_SQL", 2, "query", "SELECT 1; SELECT 2")
        self.error("LEDGER_SQL", 2, "query", "SELECT 1; DELETE FROM run")
        self.error("LEDGER_SQL", 2, "query", "SELEC 1")
        self.error("LEDGER_SQL", 2, "query", "SELECT * FROM nowhere")
        self.error("LEDGER_SQL", 2, "query", "SELECT \"no_column\" FROM run")
        self.error("LEDGER_SQL", 2, "query", "")
        self.error("LEDGER_SQL", 2, "query", "-" * 2 + " only a remark")
        self.error("USAGE", 2, "query")
        self.error("USAGE", 2, "query", "SELECT 1", "--list")
        self.error("USAGE", 2, "query", "SELECT 1", "--name", "entries")
        self.error("NUMBER", 2, "query", "SELECT 1", "--timeout", "0")
        self.error("NUMBER", 2, "query", "SELECT 1", "--max-rows", "many")

    def test_limits(self):
        endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        begin = time.monotonic()
        code, _, err = self.run_ledger("query", endless + "SELECT sum(i) FROM n", "--timeout", "1")
        self.assertEqual(code, 5)
        self.assertTrue(err.startswith("ledger: LEDGER_LIMIT: "), err)
        self.assertLess(time.monotonic() - begin, 20)
        table = self.json("query", endless + "SELECT i FROM n", "--max-rows", "100")
        self.assertEqual((len(table["rows"]), table["truncated"]), (100, True))
        self.assertIn("--max-rows", self.ok("query", endless + "SELECT i FROM n", "--max-rows", "3"))
        code, out, err = self.run_ledger("query", endless + "SELECT i FROM n", "--max-rows", "3",
                                         "--csv")
        self.assertEqual((code, out), (0, "i\r\n1\r\n2\r\n3\r\n"))
        self.assertIn("--max-rows", err)
        code, _, err = self.run_ledger("query", "SELECT length(printf('%.*c', 2000000000, 'x'))")
        self.assertIn(code, (0, 5), err)

    def test_parameters_and_saved_queries(self):
        self.assertEqual(self.rows("query", "SELECT :a AS a, :b AS b", "--param", "a=5", "--param",
                                   "b=x=y"), [{"a": 5, "b": "x=y"}])
        self.error("QUERY_PARAMETER", 2, "query", "SELECT :a")
        self.error("QUERY_PARAMETER", 2, "query", "SELECT 1", "--param", "a=1")
        self.error("QUERY_PARAMETER", 2, "query", "SELECT :a", "--param", "a")
        self.error("QUERY_PARAMETER", 2, "query", "SELECT ?")
        saved = self.rows("query", "--list")
        self.assertGreaterEqual(len(saved), 8)
        values = {"workload": "wide_fibonacci_log5x8", "verdict": "0" * 8}
        for query in saved:
            parameters = []
            for p in query["parameters"].split():
                if "=" not in p:
                    parameters += ["--param", f"{p}={values[p]}"]
            table = self.json("query", "--name", query["name"], *parameters)
            self.assertEqual(table["question"], query["name"])
        rows = self.rows("query", "--name", "slowest_stages", "--param", "clock=host", "--param",
                         "limit=3")
        self.assertEqual(len(rows), 3)
        self.error("QUERY_PARAMETER", 2, "query", "--name", "memory_parts")
        self.error("QUERY_UNKNOWN", 2, "query", "--name", "nothing")

    def test_trace(self):
        if not OPTIONS.source:
            self.skipTest("needs --source")
        make_trace(self.path("proof.sptrace"))
        count = "SELECT count(*) AS n, max(end_ns) AS latest_ns FROM trace.gpu_op"
        self.assertEqual(self.rows("query", "--trace", "proof.sptrace", count),
                         [{"n": 1, "latest_ns": 3000}])
        self.error("LEDGER_QUERY_REFUSED", 5, "query", "--trace", "proof.sptrace",
                   "DELETE FROM trace.gpu_op")
        added = self.json("add", "proof.sptrace")[0]
        self.assertEqual((added["kind"], added["added"]), ("timeline", True))
        self.assertEqual(self.rows("query", "--trace", added["id"][:8], count)[0]["n"], 1)
        self.assertEqual(self.rows("query", "SELECT count(*) AS n FROM capture")[0]["n"], 1)
        changed = bytearray(self.read("proof.sptrace"))
        changed[changed.index(b"session_start_ns")] ^= 1
        self.write("changed.sptrace", bytes(changed))
        self.error("TRACE_CORRUPT", 3, "query", "--trace", "changed.sptrace", count)
        self.error("TRACE_FOREIGN", 3, "query", "--trace", "ledger.db", count)
        self.error("TRACE_OPEN", 2, "query", "--trace", "missing.sptrace", count)
        self.error("CAPTURE_NOT_FOUND", 2, "query", "--trace", "00000000", count)

    def test_schema(self):
        text = self.ok("schema")
        for word in ("stage_time", "run_list", "trace.gpu_op"):
            self.assertIn(word, text)
        self.assertIn("verified_request_ns", self.ok("schema", "run"))
        self.assertIn("start_ns", self.ok("schema", "trace.gpu_op"))
        self.assertEqual(self.json("schema")["schema"], "stwo_ledger_schema_v1")
        self.assertEqual(self.json("schema", "run")["objects"][0]["name"], "run")
        self.error("SCHEMA_UNKNOWN", 2, "schema", "nothing")
        markdown = self.ok("schema", "--markdown")
        self.assertTrue(markdown.startswith("# "))
        # What it says about tables is what SQLite says.
        database = sqlite3.connect(self.path("ledger.db"))
        for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            if name.startswith("sqlite_"):
                continue
            described = self.json("schema", name)["objects"][0]["columns"]
            columns = [c[1] for c in database.execute(f"PRAGMA table_info({name})")]
            self.assertEqual([c["name"] for c in described], columns)
        database.close()


class Checking(LedgerTest):
    def tamper(self, sql):
        database = sqlite3.connect(self.path("ledger.db"))
        for (name,) in database.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(sql)
        database.commit()
        database.close()

    def test_sound(self):
        self.filled("first", "other")
        result = self.json("check")
        self.assertEqual(result["schema"], "stwo_ledger_check_v1")
        self.assertEqual((result["sound"], result["findings"], result["entries"]), (True, [], 3))
        self.assertTrue(self.ok("check").startswith("sound: 3 entries"))
        self.assertIn(result["head"], self.ok("check"))
        old = result["head"]
        self.ok("add", REPORTS["second"])
        self.assertTrue(self.json("check", "--head", old)["sound"])
        wrong = self.json("check", "--head", "0" * 64, exit_code=3)
        self.assertEqual([f["code"] for f in wrong["findings"]], ["CHECK_HEAD"])
        self.error("ID_FORMAT", 2, "check", "--head", "abc")

    def test_changed_row_is_named_first(self):
        self.filled("first")
        self.tamper("UPDATE stage_time SET ns = ns + 1 WHERE row = 7")
        result = self.json("check", exit_code=3)
        rows = [(f["table"], f["row"]) for f in result["findings"]
                if f["code"] == "CHECK_ROW_CHANGED"]
        self.assertEqual(rows, [("stage_time", 7)])
        code, out, err = self.run_ledger("check")
        self.assertEqual((code, err), (3, ""))
        self.assertIn("table stage_time row 7", out)
        self.assertIn("not sound", out)
        self.assertEqual(len(self.json("check", "--max-findings", "1",
                                       exit_code=3)["findings"]), 1)

    def test_changed_byte_of_an_artifact(self):
        ids = self.filled("first")
        artifact = self.path(f"ledger.artifacts/{ids[0][:2]}/{ids[0][2:]}")
        os.chmod(artifact, 0o644)
        changed = bytearray(content(artifact))
        changed[100] ^= 1
        with open(artifact, "wb") as f:
            f.write(changed)
        result = self.json("check", exit_code=3)
        self.assertEqual([f["code"] for f in result["findings"]], ["CHECK_ARTIFACT_CHANGED"])
        self.assertIn(ids[0][2:], result["findings"][0]["message"])
        os.remove(artifact)
        result = self.json("check", exit_code=3)
        self.assertEqual([f["code"] for f in result["findings"]], ["CHECK_ARTIFACT_MISSING"])
        self.error("ARTIFACT_MISSING", 3, "backup", "copy.db")

    def test_changed_byte_of_the_database(self):
        self.filled("first")
        database = sqlite3.connect(self.path("ledger.db"))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        changed = bytearray(self.read("ledger.db"))
        changed[changed.index(b"wide_fibonacci_log5x8")] ^= 1
        self.write("ledger.db", bytes(changed))
        code, out, err = self.run_ledger("check")
        self.assertEqual(code, 3, err)
        self.assertIn("workload row 1", out)

    def test_chain_can_be_recomputed_from_its_description(self):
        """docs/ledger-schema.md says how; this follows it without the program."""
        self.filled("first", "second")
        database = sqlite3.connect(self.path("ledger.db"))
        database.text_factory = str

        def text(value):
            value = value.encode()
            return struct.pack(">Q", len(value)) + value

        def row_digest(table, names, row):
            out = text(table)
            for name, value in zip(names, row):
                if value is None:
                    continue
                out += text(name)
                if isinstance(value, int):
                    out += b"I" + struct.pack(">q", value)
                elif isinstance(value, float):
                    out += b"R" + struct.pack(">d", value)
                elif isinstance(value, str):
                    out += b"T" + text(value)
                else:
                    out += b"B" + struct.pack(">Q", len(value)) + value
            return hashlib.sha256(out).digest()

        previous = "0" * 64
        for seq, prev, sha, recorded, tool, kind, subject in database.execute(
                "SELECT * FROM entry ORDER BY seq").fetchall():
            self.assertEqual(prev, previous)
            rows = []
            for table, first, count, digests in database.execute(
                    "SELECT table_name, first_row, row_count, digests FROM entry_rows "
                    "WHERE seq = ? ORDER BY table_name", (seq,)).fetchall():
                cursor = database.execute(f"SELECT * FROM {table} WHERE row >= ? AND row < ? "
                                          "ORDER BY row", (first, first + count))
                names = [d[0] for d in cursor.description]
                found = b"".join(row_digest(table, names, row) for row in cursor)
                self.assertEqual(found, digests, (seq, table))
                rows.append({"count": count, "digests_sha256": hashlib.sha256(digests).hexdigest(),
                             "first": first, "table": table})
            document = {"kind": kind, "previous": prev, "recorded_utc": recorded, "rows": rows,
                        "seq": seq, "subject": subject, "tool_version": tool, "version": 1}
            canonical = json.dumps(document, sort_keys=True, separators=(",", ":"),
                                   ensure_ascii=False)
            self.assertEqual(hashlib.sha256(canonical.encode()).hexdigest(), sha)
            previous = sha
        database.close()
        self.assertEqual(self.json("check")["head"], previous)


class Copies(LedgerTest):
    def test_backup(self):
        self.filled("first", "second")
        head = self.json("check")["head"]
        result = self.json("backup", "copy.db")
        self.assertEqual((result["head"], result["artifacts"]), (head, 2))
        self.assertEqual(self.json("check", "--ledger", "copy.db")["head"], head)
        self.error("OUTPUT_EXISTS", 5, "backup", "copy.db")
        self.error("OUTPUT_DIRECTORY", 2, "backup", "missing/copy.db")
        self.assertIn(head, self.ok("backup", "copy2.db"))

    def test_export_and_merge(self):
        self.filled("first", "second")
        result = self.json("export", "bundle")
        self.assertEqual(result["schema"], "stwo_ledger_copy_v1")
        self.error("OUTPUT_EXISTS", 5, "export", "bundle")
        self.ok("init", "other.db")
        self.ok("add", REPORTS["other"], REPORTS["first"], "--ledger", "other.db")
        merged = self.json("merge", "bundle", "--ledger", "other.db")
        self.assertEqual(merged["added"]["run"], 1)
        self.assertEqual(merged["artifacts"], 1)
        again = self.json("merge", "bundle", "--ledger", "other.db")
        self.assertEqual((again["added"], again["head"]), ({}, merged["head"]))
        self.assertIn("here already", self.ok("merge", "bundle", "--ledger", "other.db"))
        self.assertEqual(len(self.rows("runs", "--ledger", "other.db")), 3)
        self.assertTrue(self.json("check", "--ledger", "other.db")["sound"])
        # The other way round, from a ledger and not from a bundle.
        self.assertEqual(self.json("merge", "other.db")["added"]["run"], 1)
        self.error("LEDGER_MISSING", 2, "merge", "missing")
        os.mkdir(self.path("folder"))
        self.error("MERGE_SOURCE", 3, "merge", "folder")
        changed = bytearray(self.read("bundle/ledger.db"))
        changed[-1] ^= 1
        os.chmod(self.path("bundle/ledger.db"), 0o644)
        self.write("bundle/ledger.db", bytes(changed))
        self.error("MERGE_SOURCE", 3, "merge", "bundle")

    def test_migrate(self):
        self.filled("first")
        result = self.json("migrate")
        self.assertEqual((result["from"], result["to"], result["backup"]),
                         (result["to"], result["to"], None))
        self.assertIn("already", self.ok("migrate"))
        database = sqlite3.connect(self.path("ledger.db"))
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version = {version + 1}")
        database.close()
        # A newer ledger is read, with a word about it.
        code, _, err = self.run_ledger("runs")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"\Aledger: ledger ledger\.db has schema version \d+, newer [^\n]+\n\Z")
        code, _, err = self.run_ledger("add", REPORTS["second"])
        self.assertEqual(code, 5)
        self.assertIn("LEDGER_NEWER", err)
        self.error("LEDGER_NEWER", 5, "migrate")


class Records(LedgerTest):
    PREDICTION = "bytes: trace_commit.input_bytes <= 0.75 ratio of baseline"

    def new(self, *extra, slug="leaf-fusion"):
        return self.json("experiment", "new", "--title", "Hash leaves", "--slug", slug, *extra)

    def opened(self):
        self.filled("first")
        self.new("--predict", self.PREDICTION, "--set", "program and shape=wide", "--set",
                 "baseline=12 ms", "--set", "dominant mechanism=bytes")
        return self.json("experiment", "open", "leaf-fusion")

    def test_life_cycle(self):
        self.filled("first")
        draft = self.new()
        self.assertEqual((draft["schema"], draft["state"], draft["prediction"]),
                         ("stwo_ledger_record_v1", "draft", []))
        self.error("RECORD_NO_PREDICTION", 2, "experiment", "open", "leaf-fusion")
        self.write("baseline.md", "12 ms\nin eight rounds\n")
        edited = self.json("experiment", "edit-draft", "leaf-fusion", "--predict", self.PREDICTION,
                           "--file", "baseline=baseline.md")
        self.assertEqual(edited["fields"]["baseline"], "12 ms\nin eight rounds")
        self.error("RECORD_INCOMPLETE", 2, "experiment", "open", draft["id"][:8])
        self.json("experiment", "edit-draft", "leaf-fusion", "--set", "program and shape=wide",
                  "--set", "dominant mechanism=bytes = bytes")
        self.assertEqual(self.json("experiment", "open", "leaf-fusion")["state"], "open")
        self.assertEqual([r["slug"] for r in self.rows("hypotheses", "--open")], ["leaf-fusion"])
        # Once open, the hypothesis stays.
        self.error("RECORD_STATE", 2, "experiment", "edit-draft", "leaf-fusion", "--set",
                   "baseline=1")
        self.error("RECORD_FROZEN", 2, "experiment", "update", "leaf-fusion", "--set", "baseline=1")
        self.json("experiment", "update", "leaf-fusion", "--set", "code change=one kernel less")
        linked = self.json("experiment", "link", "leaf-fusion", "--role", "baseline", "--run",
                           "last", "--note", "before")
        self.assertEqual((linked["links"][0]["target_kind"], linked["links"][0]["note"]),
                         ("run", "before"))
        self.error("RECORD_NO_VERDICT", 2, "experiment", "decide", "leaf-fusion", "--decision",
                   "keep", "--reason", "faster")
        self.write("verdict.json", sample_verdict())
        verdict = self.json("add", "verdict.json")[0]["id"]
        self.json("experiment", "link", "leaf-fusion", "--role", "abba", "--verdict", verdict[:8])
        decided = self.json("experiment", "decide", "leaf-fusion", "--decision", "keep",
                            "--reason", "0.7 of the time")
        self.assertEqual((decided["state"], decided["decision"]), ("decided", "keep"))
        self.error("RECORD_STATE", 2, "experiment", "decide", "leaf-fusion", "--decision", "keep")
        self.error("LINK_IN_USE", 2, "experiment", "unlink", "leaf-fusion", verdict[:8])
        corrected = self.json("experiment", "decide", "leaf-fusion", "--correct", "wrong shape",
                              "--decision", "investigate")
        self.assertEqual((corrected["decision"], corrected["correction"]),
                         ("investigate", "wrong shape"))
        self.assertEqual(len(self.rows("experiment", "list")), 1)
        self.assertEqual(self.rows("experiment", "list", "--state", "draft"), [])
        text = self.ok("experiment", "show", "leaf-fusion")
        self.assertIn("## decision\n\ninvestigate\n", text)
        revisions = self.json("experiment", "show", "leaf-fusion", "--revisions")["rows"]
        self.assertEqual([r["state"] for r in revisions][0], "draft")
        self.assertEqual([r["state"] for r in revisions][-1], "decided")
        self.assertTrue(self.json("check")["sound"])
        facts = {r["item"]: r["value"] for r in self.rows("show", draft["id"][:20])}
        self.assertEqual((facts["kind"], facts["slug"]), ("experiment", "leaf-fusion"))

    def test_refusals(self):
        self.opened()
        self.error("RECORD_TAKEN", 2, "experiment", "new", "--title", "x", "--slug", "leaf-fusion")
        self.error("RECORD_SLUG", 2, "experiment", "new", "--title", "x", "--slug", "Not A Slug")
        self.error("RECORD_TITLE", 2, "experiment", "new", "--title", "", "--slug", "x")
        self.error("RECORD_FIELD", 2, "experiment", "new", "--title", "x", "--slug", "x", "--set",
                   "no such field=1")
        self.error("USAGE", 2, "experiment", "new", "--title", "x", "--slug", "x", "--set", "noequals")
        self.error("USAGE", 2, "experiment", "new", "--title", "x", "--slug", "x", "--set",
                   "baseline=1", "--set", "baseline=2")
        self.error("RECORD_SOURCE", 2, "experiment", "new", "--title", "x", "--slug", "x", "--file",
                   "baseline=missing.md")
        self.error("NUMBER", 2, "experiment", "new", "--title", "x", "--slug", "x", "--number", "-1")
        for prediction, code in (("faster", "PREDICTION_FORM"), ("bytes: x = 1 B", None),
                                 ("magic: x < 1 ratio", "PREDICTION_KIND"),
                                 ("bytes: x < many ratio", "PREDICTION_NUMBER")):
            got, _, err = self.run_ledger("experiment", "new", "--title", "x", "--slug", "x",
                                          "--predict", prediction)
            self.assertEqual(got, 2, f"{prediction}: {err}")
            self.assertIn(code or "PREDICTION_", err)
        for arguments, code in (
                (["open", "nothing"], "RECORD_NOT_FOUND"),
                (["show", "nothing"], "RECORD_NOT_FOUND"),
                (["open", "leaf-fusion"], "RECORD_STATE"),
                (["link", "leaf-fusion", "--role", "hero", "--run", "last"], "LINK_ROLE"),
                (["link", "leaf-fusion", "--role", "abba", "--run", "000000"],
                 "LINK_TARGET_MISSING"),
                (["link", "leaf-fusion", "--role", "abba", "--run", "abc"], "LINK_TARGET"),
                (["link", "leaf-fusion", "--role", "abba"], "USAGE"),
                (["link", "leaf-fusion", "--role", "abba", "--run", "last", "--plan", "000000"],
                 "USAGE"),
                (["unlink", "leaf-fusion", "000000"], "LINK_NOT_FOUND"),
                (["decide", "leaf-fusion", "--decision", "perhaps", "--no-verdict", "x"],
                 "RECORD_DECISION"),
                (["decide", "leaf-fusion", "--reason", "x"], "USAGE"),
                (["decide", "leaf-fusion", "--decision", "keep", "--set", "baseline=1"], "USAGE"),
                (["export"], "USAGE"),
                (["export", "leaf-fusion", "--all"], "USAGE")):
            self.error(code, 2, "experiment", *arguments)
        self.assertEqual(len(self.rows("experiment", "list")), 1)

    def test_links_can_be_taken_back(self):
        self.opened()
        link = self.json("experiment", "link", "leaf-fusion", "--role", "supports", "--run",
                         "last")["links"][0]
        again = self.json("experiment", "link", "leaf-fusion", "--role", "supports", "--run", "last")
        self.assertEqual(len(again["links"]), 1)
        after = self.json("experiment", "unlink", "leaf-fusion", link["link_id"], "--note", "no")
        self.assertEqual(after["links"], [])

    def test_files(self):
        self.opened()
        self.json("experiment", "link", "leaf-fusion", "--role", "baseline", "--run", "last")
        os.mkdir(self.path("experiments"))
        written = self.json("experiment", "export", "--all")
        self.assertEqual([w["path"] for w in written], ["experiments/0001-leaf-fusion/record.md"])
        self.assertFalse(self.json("experiment", "export", "leaf-fusion")[0]["written"])
        record = written[0]["path"]
        taken = self.json("experiment", "import", record)
        self.assertEqual(taken[0]["outcome"], "unchanged")
        text = self.read(record).decode()
        self.write(record, text.replace("## code change\n", "## code change\n\none less\n"))
        self.error("EXPORT_UNIMPORTED", 5, "experiment", "export", "leaf-fusion")
        self.assertEqual(self.json("experiment", "import", record)[0]["outcome"], "revised")
        self.assertEqual(self.json("experiment", "show", "1")["fields"]["code_change"], "one less")
        # Into another ledger, with the same ids.
        self.ok("export", "bundle")
        self.ok("init", "other.db")
        self.assertEqual(self.json("merge", "bundle", "--ledger", "other.db")["added"]["experiment"],
                         self.rows("query", "SELECT count(*) AS n FROM experiment")[0]["n"])
        self.write("bad.md", "# no record\n")
        code, _, err = self.run_ledger("experiment", "import", "bad.md")
        self.assertEqual(code, 3, err)
        self.error("RECORD_SOURCE", 2, "experiment", "import", "missing.md")

    def test_brief(self):
        self.ok("init")
        brief = self.json("brief", "new", "--title", "Fused commitment", "--slug", "fused")
        self.assertEqual(brief["kind"], "brief")
        self.assertNotIn("prediction", brief)
        self.error("RECORD_INCOMPLETE", 2, "brief", "open", "fused")
        fields = []
        for name in brief["fields"]:
            fields += ["--set", f"{name}=said"]
        self.json("brief", "edit-draft", "fused", *fields)
        self.assertEqual(self.json("brief", "open", "fused")["state"], "open")
        decided = self.json("brief", "decide", "fused", "--decision", "investigate",
                            "--no-verdict", "nothing was built yet")
        self.assertEqual(decided["state"], "decided")
        self.error("USAGE", 2, "brief", "new", "--title", "x", "--slug", "x", "--predict",
                   self.PREDICTION)
        self.error("RECORD_NOT_FOUND", 2, "experiment", "show", "fused")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("ledger", type=os.path.abspath)
    parser.add_argument("stwo", type=os.path.abspath)
    parser.add_argument("--source", type=os.path.abspath)
    OPTIONS, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="ledger_cli_reports.") as directory:
        make_reports(directory)
        program = unittest.main(argv=[sys.argv[0], *rest], exit=False, verbosity=1)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
