#!/usr/bin/env python3
"""Runs the built `stwo-prof` program through what a user can do on a machine without a GPU.

usage: stwo_prof_cli_test.py STWO_PROF --source REPOSITORY [TEST ...]
"""

import argparse
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

TIMEOUT = 120
OPTIONS = None
COMMANDS = ["caps", "report", "systems", "show", "compute", "roofline", "attribute", "export", "diff"]


class ProfTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stwo-prof-cli-")
        self.addCleanup(shutil.rmtree, self.folder)
        data = os.path.join(OPTIONS.source, "tests/data/ledger/documents")
        self.cuda_report = os.path.join(data, "cuda_report.json")
        self.cpu_report = os.path.join(data, "cpu_report.json")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_prof(self, *arguments, expect=0, path=None):
        environment = {k: v for k, v in os.environ.items() if k != "STWO_LEDGER"}
        environment["STWO_PROF_CUPTI"] = self.path("no-cupti")
        if path is not None:
            environment["PATH"] = path
        done = subprocess.run([OPTIONS.stwo_prof, *arguments], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def fails(self, code, exit_code, *arguments, path=None):
        """One line on stderr, nothing on stdout; the same as an object with --json."""
        done = self.run_prof(*arguments, expect=exit_code, path=path)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith(f"stwo-prof: {code}: "), lines[0])
        self.assertIn(";", lines[0], "says what to do")
        self.assertEqual(done.stdout, "")
        return lines[0]

    # --- help and codes

    def test_every_command_has_help_with_examples(self):
        top = self.run_prof("--help").stdout
        self.assertIn("Exit codes:", top)
        listed = self.run_prof("cuda", "--help").stdout
        for command in COMMANDS:
            self.assertIn(command, listed)
            text = self.run_prof("cuda", command, "--help").stdout
            self.assertIn("Examples:", text)
            self.assertIn("stwo-prof cuda " + command, text)
        self.assertNotIn("one-kernel", top)

    def test_version(self):
        self.assertRegex(self.run_prof("--version").stdout, r"^stwo-prof \d+\.\d+\.\d+\n$")
        self.assertEqual(json.loads(self.run_prof("--version", "--json").stdout)["schema"],
                         "stwo_prof_version_v1")

    def test_every_code_of_the_sources_is_listed(self):
        listed = {c["code"]: c for c in
                  json.loads(self.run_prof("--list-codes", "--json").stdout)["codes"]}
        thrown = re.compile(r'(?:Usage|Format|Environment|Refused)?Error\s*[({]\s*'
                            r'(?:stwo::)?(?:ExitCode::\w+,\s*)?"([A-Z][A-Z_]+)"')
        # Reasons of quarantined records are no error lines.
        internal = {"RECORD_KIND", "RECORD_NAME", "RECORD_PAYLOAD"}
        found = set()
        for folder, _, files in os.walk(os.path.join(OPTIONS.source, "prof")):
            for name in files:
                if name.endswith((".cpp", ".hpp")):
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        found.update(thrown.findall(f.read()))
        self.assertGreater(len(found), 40)
        self.assertEqual(found - internal - set(listed), set())
        self.assertEqual(sorted(listed), list(listed))
        for code in listed.values():
            self.assertIn(code["exit_code"], (1, 2, 3, 4, 5, 6, 70))

    def test_usage(self):
        self.fails("USAGE", 2)
        self.fails("USAGE", 2, "cuda")
        self.fails("USAGE", 2, "cuda", "nonsense")
        self.fails("USAGE", 2, "cuda", "report")
        self.fails("USAGE", 2, "cuda", "report", self.cuda_report, "--peak-gb-s", "0")
        error = json.loads(self.run_prof("cuda", "report", "--json", expect=2).stdout)
        self.assertEqual(error["schema"], "stwo_error_v1")
        self.assertEqual(error["context"], {"command": "cuda report", "exit_code": 2})

    # --- caps

    def test_caps_without_a_device(self):
        caps = json.loads(self.run_prof("cuda", "caps", "--json", path=self.folder).stdout)
        self.assertEqual(caps["schema"], "stwo_prof_caps_v1")
        tools = {t["name"]: t for t in caps["tools"]}
        self.assertEqual(set(tools), {"cupti", "nvtx", "nsys", "ncu"})
        for name in ("cupti", "nsys"):
            self.assertFalse(tools[name]["usable"])
            self.assertTrue(tools[name]["reason"])
        self.assertIn("nsys", self.run_prof("cuda", "caps", path=self.folder).stdout)

    def test_an_nsys_that_cannot_export_is_not_usable(self):
        nsys = self.path("nsys")
        with open(nsys, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\ncase $1 in --version) echo NVIDIA Nsight Systems version 2025.3.2;;\n"
                    "*) exit 1;; esac\n")
        os.chmod(nsys, stat.S_IRWXU)
        caps = json.loads(self.run_prof("cuda", "caps", "--json",
                                        path=self.folder + ":/bin:/usr/bin").stdout)
        tool = {t["name"]: t for t in caps["tools"]}["nsys"]
        self.assertFalse(tool["usable"])
        self.fails("NSYS_NO_EXPORT", 4, "cuda", "systems", "--output", "x.nsys-rep", "--", "/bin/true",
                   path=self.folder + ":/bin:/usr/bin")
        self.assertFalse(os.path.exists(self.path("x.nsys-rep")))

    # --- report

    def test_report_as_text_json_and_page(self):
        text = self.run_prof("cuda", "report", self.cuda_report).stdout
        self.assertLess(text.index("Gates"), text.index("Lifecycle"))
        self.assertLess(text.index("Lifecycle"), text.index("Stages"))
        page = self.path("r.html")
        out = json.loads(self.run_prof("cuda", "report", self.cuda_report, "--json", "--html",
                                       page).stdout)
        self.assertEqual(out["schema"], "stwo_prof_report_v1")
        with open(page, encoding="utf-8") as f:
            html = f.read()
        self.assertIn("stwo-prof cuda report", html, "says what made it")
        self.assertNotRegex(html, r'(?:src|href)="(?:https?:)?//')
        self.fails("OUTPUT_EXISTS", 5, "cuda", "report", self.cuda_report, "--html", page)
        self.run_prof("cuda", "report", self.cuda_report, "--html", page, "--force")

    def test_two_reports(self):
        arguments = ("cuda", "report", self.cuda_report, "--baseline", self.cuda_report)
        comparison = json.loads(self.run_prof(*arguments, "--json").stdout)["comparison"]
        self.assertEqual(comparison["drift"], [])
        known = [d for d in comparison["deltas"] if d["baseline"] not in (None, 0)]
        self.assertGreater(len(known), 20)
        for delta in known:
            self.assertEqual(delta["ratio"], 1, delta)
        self.run_prof(*arguments)

    def test_bad_reports(self):
        self.fails("REPORT_READ", 2, "cuda", "report", "nothing.json")
        for name, content, code in (("a.json", "{", "REPORT_JSON"), ("b.json", "{}", None),
                                    ("c.json", '{"schema_version": 3}', "REPORT_ZIG"),
                                    ("d.json", '{"schema":"x","schema":"x"}', None)):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(content)
            done = self.run_prof("cuda", "report", name, expect=3)
            self.assertRegex(done.stderr, r"^stwo-prof: REPORT_[A-Z_]+: ")
            if code:
                self.assertIn(code, done.stderr)

    # --- systems, compute, attribute

    def test_a_timeline_needs_cupti_and_a_right_name(self):
        self.fails("CUPTI_MISSING", 4, "cuda", "systems", "--output", "x.sptrace", "--", "/bin/true")
        self.fails("SYSTEMS_OUTPUT", 2, "cuda", "systems", "--output", "x.db", "--", "/bin/true")
        self.fails("TARGET_COMMAND", 2, "cuda", "systems", "--output", "x.sptrace")
        line = self.fails("NSYS_MISSING", 4, "cuda", "systems", "--output", "x.nsys-rep", "--",
                          "/bin/true", path=self.folder)
        self.assertIn(".sptrace", line, "names the alternative")
        with open(self.path("y.sptrace"), "w", encoding="utf-8") as f:
            f.write("mine")
        self.fails("OUTPUT_EXISTS", 5, "cuda", "systems", "--output", "y.sptrace", "--", "/bin/true")
        with open(self.path("y.sptrace"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "mine")
        self.assertEqual(os.listdir(self.folder), ["y.sptrace"])

    def test_a_named_ledger_must_be_there(self):
        self.fails("LEDGER_MISSING", 2, "cuda", "systems", "--output", "x.sptrace", "--ledger",
                   "no.db", "--", "/bin/true")
        self.fails("USAGE", 2, "cuda", "systems", "--output", "x.sptrace", "--ledger", "no.db",
                   "--no-ledger", "--", "/bin/true")

    def test_counters_need_ncu_and_a_right_name(self):
        self.fails("COMPUTE_OUTPUT", 2, "cuda", "compute", "--output", "x.txt", "--kernel", "k", "--",
                   "/bin/true")
        if shutil.which("ncu") is None:
            self.fails("NCU_MISSING", 4, "cuda", "compute", "--output", "x.ncu-rep", "--kernel", "k",
                       "--", "/bin/true")
        self.fails("ROOFLINE_OUTPUT", 2, "cuda", "roofline", "x.ncu-rep", "--output", "x.png")

    def test_attribution_runs_several_times(self):
        self.fails("ATTRIBUTE_RUN", 2, "cuda", "attribute", "--output", "a", "--", "prover",
                   "--report-out", "r.json")
        self.assertFalse(os.path.exists(self.path("a")))
        os.mkdir(self.path("b"))
        self.fails("OUTPUT_EXISTS", 5, "cuda", "attribute", "--output", "b", "--", "/bin/true")
        self.fails("TARGET_FAILED", 6, "cuda", "attribute", "--output", "c", "--", "/bin/false")

    # --- show, export, diff

    def test_captures_must_be_captures(self):
        with open(self.path("x.sptrace"), "w", encoding="utf-8") as f:
            f.write("no database")
        for arguments in (("show", "x.sptrace"), ("export", "x.sptrace", "--output", "x.json"),
                          ("diff", "x.sptrace", "x.sptrace")):
            self.fails("TRACE_FOREIGN", 3, "cuda", *arguments)
        self.fails("TRACE_OPEN", 2, "cuda", "show", "nothing.sptrace")
        self.assertFalse(os.path.exists(self.path("x.json")))
        self.fails("DIFF_KIND", 2, "cuda", "diff", "x.sptrace", "y.json")
        self.fails("DIFF_READ", 2, "cuda", "diff", "x.json", "y.json")
        self.fails("DIFF_KIND", 2, "cuda", "diff", self.cuda_report, self.cuda_report)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    parser.add_argument("stwo_prof")
    parser.add_argument("--source", required=True)
    parser.add_argument("tests", nargs="*")
    OPTIONS = parser.parse_args()
    OPTIONS.stwo_prof = os.path.abspath(OPTIONS.stwo_prof)
    OPTIONS.source = os.path.abspath(OPTIONS.source)
    unittest.main(argv=[sys.argv[0], *OPTIONS.tests])


if __name__ == "__main__":
    main()
