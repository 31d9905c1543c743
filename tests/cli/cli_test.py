#!/usr/bin/env python3
"""Runs the built `stwo` program through everything a user can do right and wrong.

usage: cli_test.py STWO [--oracle STWO_ORACLE] [--source REPOSITORY]
Prints what failed and exits with 1 if anything did. With --oracle, proofs are compared byte by byte
with the stwo crate's; with --source, every error code in the sources must be in --list-codes.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FAILURES = []
CHECKS = 0
TIMEOUT = 120


def check(condition, what):
    global CHECKS
    CHECKS += 1
    if not condition:
        FAILURES.append(what)
        print("FAILED:", what)


class Program:
    def __init__(self, path, directory):
        self.path = path
        self.directory = directory

        with open(path, "rb") as f:
            # AddressSanitizer reserves terabytes of addresses and can't run under a limit.
            self.can_limit_addresses = b"__asan_init" not in f.read()

    def run(self, *arguments, limit=None, stdout=subprocess.PIPE, env=None):
        """Runs in the test's directory; returns (exit code, stdout, stderr)."""
        def set_limit():
            if limit and (limit[0] != resource.RLIMIT_AS or self.can_limit_addresses):
                resource.setrlimit(limit[0], (limit[1], limit[1]))
        done = subprocess.run([self.path, *map(str, arguments)], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              preexec_fn=set_limit, timeout=TIMEOUT,
                              env=None if env is None else {**os.environ, **env})
        out = done.stdout.decode(errors="replace") if done.stdout is not None else ""
        return done.returncode, out, done.stderr.decode(errors="replace")

    def expect_error(self, code, exit_code, *arguments, **options):
        """One line on stderr in text mode, one object on stdout with --json; nothing else. `code` may
        be several, where it depends on the machine which one it is."""
        codes = (code,) if isinstance(code, str) else code
        name = " ".join(map(str, arguments))[:160]
        got, out, err = self.run(*arguments, **options)
        check(got == exit_code, f"{name}: exit {got}, expected {exit_code}: {err.strip()}")
        check(re.fullmatch(r"stwo: [A-Z_]+: [^\n]+\n", err) is not None,
              f"{name}: not one error line: {err!r}")
        check(err.startswith(tuple(f"stwo: {c}: " for c in codes)),
              f"{name}: expected {code}, got {err!r}")
        check(out == "", f"{name}: output beside an error: {out[:80]!r}")
        got, out, err = self.run(*arguments, "--json", **options)
        check(got == exit_code, f"{name} --json: exit {got}, expected {exit_code}")
        check(err == "", f"{name} --json: text on stderr: {err!r}")
        try:
            error = json.loads(out)
            check(error["schema"] == "stwo_error_v1" and error["code"] in codes
                  and "\n" not in error["message"] and error["context"]["exit_code"] == exit_code,
                  f"{name} --json: unexpected object {out!r}")
        except (ValueError, KeyError):
            check(False, f"{name} --json: not an error object: {out[:200]!r}")

    def json(self, *arguments, exit_code=0):
        got, out, err = self.run(*arguments, "--json")
        name = " ".join(map(str, arguments))
        check(got == exit_code, f"{name} --json: exit {got}, expected {exit_code}: {out} {err}")
        check(out.count("\n") == 1 and out.endswith("\n"), f"{name} --json: not one line")
        try:
            return json.loads(out)
        except ValueError:
            check(False, f"{name} --json: not JSON: {out[:200]!r}")
            return {}


def path(stwo, name):
    return os.path.join(stwo.directory, name)


def read(stwo, name):
    with open(path(stwo, name), "rb") as f:
        return f.read()


def write(stwo, name, content):
    with open(path(stwo, name), "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return name


def exists(stwo, name):
    return os.path.lexists(path(stwo, name))


SMALL = ["--air", "wide_fibonacci", "--log-n-rows", "5", "--sequence-len", "8"]
FAST = ["--config", "fast"]


def prove(stwo, output, *extra):
    got, out, err = stwo.run("prove", *SMALL, *FAST, "--output", output, *extra)
    check(got == 0, f"prove {output} {extra}: exit {got}: {err}")
    return out


def test_help(stwo):
    for arguments in (["--help"], ["prove", "--help"], ["verify", "--help"], ["airs", "--help"],
                      ["inspect", "--help"], ["inspect", "proof", "--help"],
                      ["inspect", "program", "--help"], ["inspect", "plan", "--help"],
                      ["inspect", "report", "--help"], ["research", "--help"],
                      ["research", "compile", "--help"]):
        got, out, err = stwo.run(*arguments)
        check(got == 0 and err == "" and "Examples:" in out, f"{arguments}: help is incomplete")
        command = " ".join(["stwo"] + arguments[:-1])
        check(f"Usage: {command} " in out, f"{arguments}: help of another command")
    got, out, _ = stwo.run("--version")
    check(got == 0 and out.startswith("stwo "), "--version")
    check(stwo.json("--version").get("schema") == "stwo_version_v1", "--version --json")
    airs = stwo.json("airs")
    check([a["name"] for a in airs["airs"]][:1] == ["wide_fibonacci"], "airs --json")
    got, out, _ = stwo.run("airs")
    check(got == 0 and all(a["name"] in out for a in airs["airs"]), "airs")


def test_usage(stwo):
    error = stwo.expect_error
    error("USAGE", 2)
    error("USAGE", 2, "nonsense")
    error("USAGE", 2, "prove", "--bogus")
    error("USAGE", 2, "prove", *SMALL)
    error("USAGE", 2, "verify")
    error("USAGE", 2, "verify", "a", "b")
    error("USAGE", 2, "verify", "a", "--config", "fast", "--min-security-bits", "3")
    error("USAGE", 2, "inspect")
    error("USAGE", 2, "inspect", "program")
    error("USAGE", 2, "inspect", "program", "x.json", *SMALL)
    error("USAGE", 2, "inspect", "plan")
    error("USAGE", 2, "inspect", "plan", "x.json", *SMALL)
    error("USAGE", 2, "inspect", "plan", "x.json", "--config", "fast")
    error("USAGE", 2, "inspect", "plan", *SMALL, "--device", "0", "--sm", "90")
    error("NUMBER", 2, "inspect", "plan", *SMALL, "--sm", "sm_90")
    error("NUMBER", 2, "inspect", "plan", *SMALL, "--device", "x")
    error("CONFIG", 2, "inspect", "plan", *SMALL, "--config", "slow")
    error("SHAPE", 2, "inspect", "plan", *SMALL, "--config", "fold=5,last=5")
    error("FILE_OPEN", 2, "inspect", "plan", "missing.json")
    compile_ = ["research", "compile", *SMALL, "--component", "wide_fibonacci"]
    error("USAGE", 2, "research")
    error("USAGE", 2, "research", "compile")
    error("USAGE", 2, *compile_, "--sm", "90")
    error("USAGE", 2, *compile_, "--output", ".")
    error("NUMBER", 2, *compile_, "--output", ".", "--sm", "H200")
    error("NUMBER", 2, *compile_, "--output", ".", "--sm", "90", "--device", "-1")
    error("OUTPUT_DIRECTORY", 2, *compile_, "--output", "missing", "--sm", "90")
    error("OUTPUT_NAME", 2, *compile_, "--output", "", "--sm", "90")
    error("COMPONENT", 2, "research", "compile", *SMALL, "--component", "nope", "--output", ".",
          "--sm", "90")
    error("AIR_UNKNOWN", 2, "research", "compile", "--air", "nope", "--component", "x", "--output",
          ".", "--sm", "90")
    got, _, _ = stwo.run("--json", "airs")
    check(got == 2, "--json before the command must not be ignored")
    out = ["--output", "never.json"]
    error("AIR_UNKNOWN", 2, "prove", "--air", "nope", *out)
    error("AIR_UNKNOWN", 2, "prove", "--air", "", *out)
    error("AIR_UNKNOWN", 2, "prove", "--air", "bad\nname", *out)
    error("AIR_PARAMETER", 2, "prove", "--air", "wide_fibonacci", "--log-n-rows", "4", *out)
    error("AIR_PARAMETER", 2, "prove", *SMALL, "--second-enabled", "1", *out)
    for rows in ("0", "30", "18446744073709551615"):
        error("AIR_PARAMETER", 2, "prove", "--air", "wide_fibonacci", "--log-n-rows", rows,
              "--sequence-len", "4", *out)
    for rows in ("18446744073709551616", "99999999999999999999", "-1", "+4", "0x4", "1e1", "4.0",
                 " 4", "4 ", "four"):
        error("NUMBER", 2, "prove", "--air", "wide_fibonacci", f"--log-n-rows={rows}",
              "--sequence-len", "4", *out)
    for length in ("0", "65537"):
        error("AIR_PARAMETER", 2, "prove", "--air", "wide_fibonacci", "--log-n-rows", "4",
              "--sequence-len", length, *out)
    for option in ("--threads", "--repeat", "--warmup"):
        for value in ("x", "1.5", "99999999999"):
            error("NUMBER", 2, "prove", *SMALL, *FAST, option, value, *out)
    error("CHANNEL", 2, "prove", *SMALL, "--channel", "poseidon", *out)
    error("BACKEND", 2, "prove", *SMALL, "--backend", "metal", *out)
    # An option of one backend is never silently ignored by the other.
    for option in (["--device", "0"], ["--cubin-dir", "."], ["--allow-ptx"]):
        error("USAGE", 2, "prove", *SMALL, *option, *out)
        error("USAGE", 2, "prove", *SMALL, "--backend", "cpu", *option, *out)
    error("USAGE", 2, "prove", *SMALL, "--backend", "cuda", "--threads", "2", *out)
    error("USAGE", 2, "prove", *SMALL, "--backend", "cuda", "--cubin-dir", "", *out)
    for device in ("x", "-1", "1024"):
        error("NUMBER", 2, "prove", *SMALL, "--backend", "cuda", f"--device={device}", *out)
    for config in ("slow", "pow", "pow=", "pow=x", "pow=33", "blowup=0", "blowup=17", "queries=0",
                   "queries=4097", "last=11", "fold=0", "fold=17", "lift=31", "pow=1,pow=2",
                   "speed=9", "pow=-1", "pow=1,,fold=1"):
        error("CONFIG", 2, "prove", *SMALL, "--config", config, *out)
    error("SHAPE", 2, "prove", *SMALL, "--config", "lift=6", *out)   # empty tree 0
    error("SHAPE", 2, "prove", *SMALL, "--config", "fold=5,last=5", *out)
    error("SHAPE", 2, "prove", "--air", "wide_fibonacci", "--log-n-rows", "29", "--sequence-len",
          "4", "--config", "blowup=2", *out)
    error("USAGE", 2, "prove", *SMALL, *FAST, "--oracle-receipt", "r.json", *out)
    check(not exists(stwo, "never.json"), "a failed prove left its output")


def test_round_trip(stwo, oracle):
    out = prove(stwo, "a.json", "--report-out", "a.report.json", "--transcript", "a.transcript",
                "--warmup", "1", "--repeat", "2")
    for word in ("trace_commit", "fri_commit", "verified", "13 bits heuristic",
                 "timing protocol, not secure", "a.report.json"):
        check(word in out, f"prove's summary lacks {word!r}")
    text = read(stwo, "a.json")
    check(text.endswith(b"}\n") and text.count(b"\n") == 1, "proof file is not one line")
    proof = text[text.index(b',"proof":') + 9:-2]
    digest = hashlib.sha256(proof).hexdigest()
    check(digest in out, "prove's summary lacks the digest")

    verdict = stwo.json("verify", "a.json", "--config", "fast")
    check(verdict["accepted"] is True and verdict["canonical_sha256"] == digest, "verify --json")
    got, out, _ = stwo.run("verify", "a.json", "--config", "fast")
    check(got == 0 and out.startswith("accepted\n"), "verify")
    # The level is never the proof's own.
    verdict = stwo.json("verify", "a.json", exit_code=1)
    check(verdict["reason"] == "config_mismatch", "default level must be secure")
    verdict = stwo.json("verify", "a.json", "--min-security-bits", "14", exit_code=1)
    check(verdict["reason"] == "security_bits_too_low", "--min-security-bits 14")
    check(stwo.json("verify", "a.json", "--min-security-bits", "13")["accepted"], "13 bits")
    stwo.expect_error("CONFIG", 2, "verify", "a.json", "--config", "slow")
    stwo.expect_error("NUMBER", 2, "verify", "a.json", "--min-security-bits", "many")

    report = json.loads(read(stwo, "a.report.json"))
    check(report["proof"]["canonical_sha256"] == digest, "report's digest")
    check(report["proof"]["canonical_bytes"] == len(proof), "report's proof size")
    check(report["identity"]["binary_sha256"]
          == hashlib.sha256(open(stwo.path, "rb").read()).hexdigest(), "report's binary digest")
    check([r["role"] for r in report["requests"]] == ["first", "warmup", "steady", "steady"],
          "report's requests")
    shown = stwo.json("inspect", "report", "a.report.json")
    check(shown["valid"] and shown["contract_flags"] == [], "inspect report")
    got, out, _ = stwo.run("inspect", "report", "a.report.json")
    check(got == 0 and "valid" in out and "wide_fibonacci_log5x8" in out
          and "not eligible: " in out, "inspect report text")
    steps = read(stwo, "a.transcript").decode().splitlines()
    check(len(steps) > 5 and all(re.fullmatch(r"step \S+ [0-9a-f]{64}", s) for s in steps),
          "transcript lines")

    shown = stwo.json("inspect", "proof", "a.json")
    check(shown["canonical_sha256"] == digest and shown["proof_bytes"] == len(proof),
          "inspect proof")
    got, out, _ = stwo.run("inspect", "proof", "a.json")
    check(got == 0 and digest in out and "queried_values" in out, "inspect proof text")
    of_file = stwo.json("inspect", "program", "a.json")
    of_air = stwo.json("inspect", "program", *SMALL)
    check(of_file == of_air and of_file["components"][0]["constraints"] == 6, "inspect program")
    got, out, _ = stwo.run("inspect", "program", "a.json", "--text")
    check(got == 0 and "constraint 5 = " in out, "inspect program --text")

    summary = stwo.json("prove", *SMALL, *FAST, "--output", "b.json")
    check(summary["canonical_sha256"] == digest and read(stwo, "b.json") == text,
          "the same statement gave other bytes")
    for threads in ("1", "3"):
        prove(stwo, "b.json", "--force", "--threads", threads)
        check(read(stwo, "b.json") == text, f"other bytes with {threads} threads")
    if oracle:
        subprocess.run([oracle, "prove", *SMALL, "--channel", "blake2s", *FAST, "--output",
                        path(stwo, "crate.json")], check=True)
        check(read(stwo, "crate.json") + b"\n" == text, "bytes differ from the crate's")

    # Other AIRs, channel, absorbed config: prove, verify at the default level of both.
    for k, extra in enumerate((
            ["--air", "wide_fibonacci_seq", "--log-n-rows", "4", "--sequence-len", "5", "--channel",
             "blake2s_m31", "--mix-config"],
            ["--air", "wide_fibonacci_pair", "--log-n-rows", "6", "--sequence-len", "5",
             "--second-log-n-rows", "4", "--second-sequence-len", "3"])):
        config = ["--config", "pow=5,queries=4,fold=2,last=1"]
        got, _, err = stwo.run("prove", *extra, *config, "--output", f"other{k}.json")
        check(got == 0, f"prove {extra}: {err}")
        got, _, err = stwo.run("verify", f"other{k}.json", *config)
        check(got == 0, f"verify {extra}: {err}")
    return text, digest


def test_receipts(stwo, digest, oracle):
    receipt = {"accepted": True, "reason": "ok", "crate": "stwo 2.3.0", "canonical_sha256": digest}
    text = json.dumps(receipt)
    if oracle:
        text = subprocess.run([oracle, "verify", path(stwo, "a.json"), "--json"], check=True,
                              capture_output=True).stdout.decode()
    write(stwo, "receipt.json", text)
    prove(stwo, "c.json", "--report-out", "c.report.json", "--oracle-receipt", "receipt.json")
    found = json.loads(read(stwo, "c.report.json"))["proof"]["oracle"]
    check(found == {"name": "stwo 2.3.0", "accepted": True,
                    "receipt_sha256": hashlib.sha256(text.encode()).hexdigest()}, "report's oracle")
    receipt["canonical_sha256"] = "0" * 64
    write(stwo, "wrong.json", json.dumps(receipt))
    arguments = ["prove", *SMALL, *FAST, "--output", "d.json", "--report-out", "d.report.json",
                 "--oracle-receipt"]
    stwo.expect_error("RECEIPT_MISMATCH", 3, *arguments, "wrong.json")
    for content in ("garbage", "[]", "{}", '{"accepted":1,"crate":"x","canonical_sha256":"y"}',
                    "[" * 100000, '{"accepted":true,"crate":3,"canonical_sha256":"y"}', "\xff"):
        stwo.expect_error("RECEIPT", 3, *arguments, write(stwo, "bad.json", content))
    stwo.expect_error("FILE_OPEN", 2, *arguments, "missing.json")
    check(not exists(stwo, "d.json") and not exists(stwo, "d.report.json"),
          "a refused receipt left outputs")


def test_outputs(stwo, text):
    arguments = ["prove", *SMALL, *FAST, "--output"]
    before = sorted(os.listdir(stwo.directory))
    stwo.expect_error("OUTPUT_EXISTS", 5, *arguments, "a.json")
    check(read(stwo, "a.json") == text, "an existing output was changed")
    # Refused before the work: this statement would take minutes and much memory.
    begin = time.monotonic()
    stwo.expect_error("OUTPUT_EXISTS", 5, "prove", "--air", "wide_fibonacci", "--log-n-rows", "24",
                      "--sequence-len", "1000", "--output", "a.json")
    check(time.monotonic() - begin < 5, "an existing output was noticed late")
    stwo.expect_error("OUTPUT_EXISTS", 5, *arguments, "e.json", "--report-out", "a.json")
    stwo.expect_error("OUTPUT_EXISTS", 5, *arguments, "e.json", "--transcript", "a.json")
    stwo.expect_error("OUTPUT_NAME", 2, *arguments, "e.json", "--report-out", "./e.json")
    stwo.expect_error("OUTPUT_NAME", 2, *arguments, "e.json", "--transcript", "e.json")
    stwo.expect_error("OUTPUT_NAME", 2, *arguments, "")
    stwo.expect_error("OUTPUT_DIRECTORY", 2, *arguments, "missing/e.json")
    stwo.expect_error("OUTPUT_DIRECTORY", 2, *arguments, "a.json/e.json")
    stwo.expect_error("OUTPUT_NAME", 2, *arguments, "n" * 300)
    stwo.expect_error("OUTPUT_DIRECTORY", 2, "research", "compile", *SMALL, "--component",
                      "wide_fibonacci", "--sm", "90", "--output", "a.json")
    for force in ([], ["--force"]):
        for target in ("/dev/full", "/dev/null", "."):
            stwo.expect_error("OUTPUT_KIND", 5, *arguments, target, *force)
    check(os.path.exists("/dev/full"), "/dev/full is gone")
    # A file size limit fails in the middle of writing, like a full disk.
    stwo.expect_error("OUTPUT_SPACE", 4, *arguments, "e.json", limit=(resource.RLIMIT_FSIZE, 1024))
    check(sorted(os.listdir(stwo.directory)) == before, "failed outputs left files: "
          f"{sorted(set(os.listdir(stwo.directory)) - set(before))}")
    with open("/dev/full", "w") as full:
        for command in (["airs"], ["--list-codes"], ["--help"], ["inspect", "proof", "a.json"],
                        ["verify", "a.json", "--config", "fast"]):
            got, _, err = stwo.run(*command, stdout=full)
            check(got == 4 and err.startswith("stwo: STDOUT: "), f"{command} > /dev/full: {got} {err}")
    # Racing for one name: exactly one wins, nobody leaves a temporary file.
    racers = [subprocess.Popen([stwo.path, *arguments, "race.json"], cwd=stwo.directory,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
              for _ in range(6)]
    results = sorted(r.wait() for r in racers)
    check(results == [0] + [5] * 5, f"racing for one output: {results}")
    check(read(stwo, "race.json") == text, "the race's winner wrote something else")
    check(not [n for n in os.listdir(stwo.directory) if ".tmp." in n], "temporary files are left")


def test_full_disk(stwo):
    """A real full disk, where the system lets us mount one."""
    script = ('mkdir -p disk && mount -t tmpfs -o size=8k none disk && '
              '"$0" prove --air wide_fibonacci --log-n-rows 5 --sequence-len 8 --config fast '
              '--output disk/p.json; code=$?; ls -A disk; exit $code')
    try:
        probe = subprocess.run(["unshare", "-rm", "sh", "-c", "mkdir -p disk && mount -t tmpfs none "
                                "disk"], cwd=stwo.directory, capture_output=True, timeout=TIMEOUT)
    except OSError:
        probe = None
    if probe is None or probe.returncode != 0:
        print("note: can't mount a small file system here; the full-disk check is left out")
        return
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, stwo.path], cwd=stwo.directory,
                          capture_output=True, timeout=TIMEOUT)
    check(done.returncode == 4 and b"OUTPUT_SPACE" in done.stderr and done.stdout == b"",
          f"full disk: exit {done.returncode}, {done.stderr!r}, left {done.stdout!r}")


# Why there is no CUDA proof: no backend in this build; no driver or no device in this machine; kernels
# that were not built.
NO_CUDA = ("BACKEND_UNAVAILABLE", "CUBIN_MISSING", "DRIVER", "NO_CUDA_DEVICE",
           "SM_UNSUPPORTED", "DEVICE_UNSUPPORTED")


def test_cuda(stwo, text):
    """Without a device: one line and exit 4, before any work and never a CPU proof instead. With one:
    the same bytes."""
    arguments = ["prove", *SMALL, *FAST, "--backend", "cuda", "--output", "cuda.json"]
    got, out, err = stwo.run(*arguments, "--report-out", "cuda.report.json")
    if got == 0:
        check("backend    cuda: " in out and "host gap" in out, "summary of a CUDA run")
        check(read(stwo, "cuda.json") == text, "the CUDA backend gave other bytes")
        check(stwo.json("inspect", "report", "cuda.report.json")["contract_flags"] == [],
              "flags of a plain CUDA run")
        stwo.expect_error(NO_CUDA, 4, "prove", *SMALL, *FAST, "--backend", "cuda", "--device", "999",
                          "--output", "none.json")
        check(not exists(stwo, "none.json"), "a run without a device left its output")
        return
    begin = time.monotonic()
    for extra in ([], ["--device", "0"], ["--allow-ptx"], ["--cubin-dir", "missing"],
                  ["--report-out", "cuda.report.json", "--transcript", "cuda.transcript"]):
        stwo.expect_error(NO_CUDA, 4, *arguments, *extra)
    # What is wrong with the command line comes first.
    stwo.expect_error("OUTPUT_EXISTS", 5, *arguments[:-1], "a.json")
    stwo.expect_error(NO_CUDA, 4, "prove", "--air", "wide_fibonacci", "--log-n-rows", "24",
                      "--sequence-len", "1000", "--backend", "cuda", "--output", "cuda.json")
    check(time.monotonic() - begin < 30, "the lack of a device was noticed late")
    check(not [n for n in os.listdir(stwo.directory) if n.startswith("cuda.")],
          "a run without a device left outputs")
    stwo.expect_error(NO_CUDA, 4, "inspect", "plan", "a.json")
    stwo.expect_error(NO_CUDA, 4, "inspect", "plan", *SMALL, *FAST, "--device", "0")
    # These two need no device, only a build with the backend.
    os.mkdir(path(stwo, "kernels"))
    for command in (["inspect", "plan", "a.json", "--sm", "90"],
                    ["research", "compile", *SMALL, "--component", "wide_fibonacci", "--sm", "90",
                     "--output", "kernels"]):
        got, out, err = stwo.run(*command)
        check(got == 0 or (got == 4 and out == "" and re.fullmatch(r"stwo: [A-Z_]+: [^\n]+\n", err)),
              f"{command}: exit {got}: {err}")


def test_interrupt(stwo):
    before = sorted(os.listdir(stwo.directory))
    process = subprocess.Popen([stwo.path, "prove", *SMALL, "--config", "pow=32", "--repeat",
                                "1000000", "--output", "killed.json"], cwd=stwo.directory,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    check(process.returncode == -signal.SIGINT, f"interrupt: exit {process.returncode}")
    check(out == b"" and err == b"", "an interrupted run without a terminal printed something")
    check(sorted(os.listdir(stwo.directory)) == before, "an interrupted run left files")


def test_bad_files(stwo, text):
    readers = (["verify"], ["inspect", "proof"], ["inspect", "program"], ["inspect", "plan"])
    def all_readers(code, exit_code, name):
        for reader in readers:
            stwo.expect_error(code, exit_code, *reader, name)
    all_readers("FILE_OPEN", 2, "missing.json")
    all_readers("FILE_KIND", 2, ".")
    all_readers("FILE_KIND", 2, "/dev/zero")
    os.mkfifo(path(stwo, "pipe"))
    all_readers("FILE_KIND", 2, "pipe")
    all_readers("FILE_EMPTY", 3, write(stwo, "empty.json", b""))
    all_readers("PROOF_SYNTAX", 3, write(stwo, "garbage.json", b"\x00\xffgarbage"))
    write(stwo, "huge.json", text)
    os.truncate(path(stwo, "huge.json"), 10 << 30)
    begin = time.monotonic()
    all_readers("FILE_TOO_LARGE", 3, "huge.json")
    check(time.monotonic() - begin < 10, "a huge sparse file was read")
    os.remove(path(stwo, "huge.json"))
    write(stwo, "sparse.json", b"")
    os.truncate(path(stwo, "sparse.json"), 100 << 20)
    all_readers("PROOF_SYNTAX", 3, "sparse.json")
    os.remove(path(stwo, "sparse.json"))
    for n in range(1, len(text) - 1, 211):
        stwo.expect_error("PROOF_TRUNCATED", 3, "verify", write(stwo, "cut.json", text[:n]))
    deep = text[:text.index(b'"sampled_values":') + 17]
    stwo.expect_error("PROOF_VALUE", 3, "verify", write(stwo, "deep.json", deep + b"[" * 10_000_000))
    # Empty lists cost memory out of proportion; the limit must stop them first.
    write(stwo, "columns.json", deep + b"[[" + b"[]," * 10_000_000)
    stwo.expect_error("PROOF_VALUE", 3, "verify", "columns.json",
                      limit=(resource.RLIMIT_AS, 1 << 30))
    os.remove(path(stwo, "columns.json"))
    os.remove(path(stwo, "deep.json"))

    def changed(old, new):
        check(old in text, f"test is out of date: {old!r} is not in the proof file")
        return write(stwo, "changed.json", text.replace(old, new, 1))
    bad = lambda code, old, new: stwo.expect_error(code, 3, "verify", changed(old, new))
    bad("PROOF_SCHEMA", b"proof_v1", b"proof_v2")
    bad("PROOF_NONCANONICAL", b',"config":', b', "config":')
    bad("PROOF_NONCANONICAL", b'"pow_bits":10', b'"pow_bits":010')
    bad("PROOF_FIELD", b'"pow_bits":10', b'"pow_bits":10,"pow_bits":10')
    bad("PROOF_FIELD", b'"commitments"', b'"commitmentz"')
    bad("PROOF_VALUE", b'"pow_bits":10', b'"pow_bits":4294967296')
    bad("PROOF_VALUE", b'"pow_bits":10', b'"pow_bits":"\\u001b[31m"')
    bad("PROOF_VALUE", b'"sampled_values":[[],[[[[', b'"sampled_values":[[],[[[[9999999999,')
    bad("PROOF_STATEMENT", b'"air":"wide_fibonacci"', b'"air":"nope"')
    bad("PROOF_STATEMENT", b'"log_n_rows":5', b'"log_n_rows":30')
    bad("PROOF_STATEMENT", b'"log_n_rows":5', b'"rows":5')
    bad("PROOF_STATEMENT", b'"log_n_rows":5,"sequence_len":8', b'"sequence_len":8,"log_n_rows":5')
    bad("PROOF_STATEMENT", b',"sequence_len":8', b'')
    bad("PROOF_VALUE", b'"channel":"blake2s"', b'"channel":"blake3"')

    # Well-formed and false: a negative answer, not an error.
    def rejected(old, new, reason, *level):
        level = level or ("--config", "fast")
        verdict = stwo.json("verify", changed(old, new), *level, exit_code=1)
        check(verdict.get("accepted") is False and (not reason or verdict.get("reason") == reason),
              f"{old!r} -> {new!r}: {verdict.get('reason')}, expected {reason}")
        got, out, err = stwo.run("verify", "changed.json", *level)
        check(got == 1 and out.startswith("rejected: ") and err == "", f"{old!r}: text of rejection")
    rejected(b'"log_n_rows":5', b'"log_n_rows":6', "")
    rejected(b'"sequence_len":8', b'"sequence_len":9', "sampled_values_shape")
    rejected(b'"channel":"blake2s"', b'"channel":"blake2s_m31"', "")
    rejected(b'"mix_config":false', b'"mix_config":true', "")
    rejected(b'"n_queries":3', b'"n_queries":2', "config_mismatch")
    second = text.index(b'"n_queries":3', text.index(b'"proof":'))
    write(stwo, "inner.json", text[:second] + b'"n_queries":2' + text[second + 13:])
    verdict = stwo.json("verify", "inner.json", "--config", "fast", exit_code=1)
    check(verdict["reason"] == "config_mismatch", "the proof's own config differs")
    rejected(b'"pow_bits":10', b'"pow_bits":4294967295', "config_out_of_range",
             "--min-security-bits", "1")
    rejected(b'"n_queries":3', b'"n_queries":0', "config_out_of_range", "--min-security-bits", "0")
    rejected(b'"lifting_log_size":null', b'"lifting_log_size":6', "statement_not_provable",
             "--min-security-bits", "0")
    nonce = re.search(rb'"proof_of_work":(\d+)', text).group(1)
    rejected(b'"proof_of_work":' + nonce, b'"proof_of_work":%d' % (int(nonce) + 1), "")
    root = re.search(rb'"commitments":\[\[[^]]*\],\[(\d+),', text).group(1)
    at = re.search(rb'"commitments":\[\[[^]]*\],\[', text).group(0)
    rejected(at + root, at + b"%d" % ((int(root) + 1) % 256), "")


def cuda_report(report):
    """A CUDA report with made-up device numbers, from a CPU report."""
    n = len(report["requests"])
    zeros = lambda *keys: {key: [0] * n for key in keys}
    report["backend"] = "cuda"
    report["execution_mode"] = "direct"
    identity = report["identity"]
    identity.update(nvcc_version="13.0", cuda_arch_list="90")
    del identity["identity_sha256"]
    identity["identity_sha256"] = hashlib.sha256(json.dumps(
        identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
    report["modules"] = [{"name": "hash", "sha256": "0" * 64, "bytes": 1, "kind": "ptx", "sm": 90,
                          "load_ordinal": 0, "loaded_in": "init"}]
    report["ineligible_reason"] = "module hash was compiled at run time"
    report["aot"] = {"entries": 1, "loads": 1, "cache_hits": 0, "misses": 3, "launches": 9,
                     "launch_failures": 0, "build_identity_sha256": "0" * 64, "strict": True}
    report["device"] = {"uuid": "GPU-1", "name": "made up", "ordinal": 0, "sm_major": 9,
                        "sm_minor": 0, "driver_version": "13.0", "runtime_version": "13.0",
                        "toolkit_version": "13.0", "global_memory_bytes": 1 << 30,
                        "multiprocessors": 132, "mig": False}
    report["plan"].update(semantic_sha256="0" * 64, cache_key_sha256="0" * 64, schedule_version=1,
                          compiled_once=True, reuse_count=n, predicted_minimum_launches=9,
                          transcript_barriers=5, request_bytes=1, persistent_bytes=1)
    # One nanosecond a stage lies within any request.
    stages = {**{key: 1 for key in report["stage_ns"]["first"]}, "total": 10}
    report["device_stage_ns"] = {key: stages for key in ("first", "last", "min", "median")}
    for request in report["requests"]:
        request["device_elapsed"] = 10
    report["counters"] = zeros(
        "graph_launches", "graph_instantiations", "graph_updates", "graph_cache_hits",
        "graph_cache_misses", "graph_fallbacks", "sync_calls", "device_synchronizes", "module_loads",
        "jit_compiles", "allocations", "frees", "cpu_fallback_attempts", "cpu_fallbacks_completed")
    report["counters"]["kernel_launches"] = [9] * n
    report["transfers"] = zeros(
        "h2d_operations", "h2d_bytes", "d2h_bytes", "d2d_operations", "d2d_bytes",
        "terminal_d2h_bytes", "intermediate_d2h_operations")
    report["transfers"].update(d2h_operations=[1] * n, terminal_d2h_operations=[1] * n)
    report["pass_ledger"] = []
    memory = report["memory"]
    memory.update(persistent_runtime=1, modules=1, tables=1, cached_shapes=1, graphs=1,
                  arena_high_water=1, scratch=1, staging=1, terminal_host=1, accounted_peak=9,
                  pool_reserved=4096, pool_used=1, capacity=1 << 30)
    reasons = report["not_applicable"]
    for path in list(reasons):
        if path.startswith(("/memory/", "/plan/", "/identity/nvcc", "/identity/cuda")) or path in (
                "/execution_mode", "/modules", "/aot", "/device", "/counters", "/transfers",
                "/pass_ledger", "/requests/*/device_elapsed"):
            del reasons[path]
    return report


def test_cuda_reports(stwo):
    report = cuda_report(json.loads(read(stwo, "a.report.json")))
    write(stwo, "made_up.json", json.dumps(report))
    shown = stwo.json("inspect", "report", "made_up.json")
    check([f["code"] for f in shown["contract_flags"]] == ["FLAG_RUNTIME_CODE", "FLAG_AOT_MISS"],
          f"flags of a made-up CUDA report: {shown}")
    got, out, err = stwo.run("inspect", "report", "made_up.json")
    for part in ("made up (GPU-1), SM 9.0", "9 kernels, 0 graphs", "not eligible: module hash",
                 "device time)", "host gap", "flags: 2", "FLAG_AOT_MISS /aot/misses: ", "valid: "):
        check(part in out, f"text of a CUDA report lacks {part!r}: {err}")
    report["counters"]["kernel_launches"][-1] = 8
    write(stwo, "made_up.json", json.dumps(report))
    shown = stwo.json("inspect", "report", "made_up.json", exit_code=3)
    check([(v["code"], v["path"]) for v in shown["violations"]]
          == [("REPORT_TOPOLOGY", "/counters/kernel_launches/3")] and not shown["contract_flags"],
          f"violations of a made-up CUDA report: {shown}")


def test_bad_reports(stwo):
    text = read(stwo, "a.report.json").decode()
    stwo.expect_error("FILE_OPEN", 2, "inspect", "report", "missing.json")
    stwo.expect_error("FILE_EMPTY", 3, "inspect", "report", "empty.json")
    write(stwo, "big.json", b"{")
    os.truncate(path(stwo, "big.json"), 1 << 30)
    stwo.expect_error("FILE_TOO_LARGE", 3, "inspect", "report", "big.json")
    os.remove(path(stwo, "big.json"))
    def violations(content):
        out = stwo.json("inspect", "report", write(stwo, "bad.report.json", content), exit_code=3)
        got, shown, err = stwo.run("inspect", "report", "bad.report.json")
        check(got == 3 and shown.startswith("invalid: ") and err == "", "text of an invalid report")
        return {v["code"] for v in out["violations"]}
    check(violations("garbage") == {"REPORT_JSON"}, "garbage as report")
    check(violations("[" * 1000000) == {"REPORT_JSON"}, "deep report")
    check(violations(b'{"\xff":1}') == {"REPORT_JSON"}, "report that is not UTF-8")
    check(violations(read(stwo, "a.json")) == {"REPORT_SCHEMA"}, "a proof as report")
    report = json.loads(text)
    report["stage_ns"]["first"]["pow"] += 1
    check(violations(json.dumps(report)) == {"REPORT_STAGE_SUM"}, "stage sum")
    report = json.loads(text)
    report["requests"][1]["canonical_sha256"] = "0" * 64
    check(violations(json.dumps(report)) == {"REPORT_DIGESTS"}, "digest")


def test_memory(stwo):
    # Under an address-space limit a large shape must end in one clear line.
    if not stwo.can_limit_addresses:
        return
    got, out, err = stwo.run("prove", "--air", "wide_fibonacci", "--log-n-rows", "20",
                             "--sequence-len", "100", *FAST, "--threads", "1", "--output",
                             "large.json", limit=(resource.RLIMIT_AS, 300 << 20))
    check(got == 4 and err.startswith("stwo: OUT_OF_MEMORY: ") and out == "",
          f"too little memory: exit {got}: {err[:200]}")
    check(not exists(stwo, "large.json"), "a run without memory left its output")


def test_locales(stwo):
    _, plain, _ = stwo.run("inspect", "proof", "a.json", env={"LC_ALL": "C"})
    check(plain.isascii() and "###" in plain, "bars in the C locale must be ASCII")
    _, fancy, _ = stwo.run("inspect", "proof", "a.json", env={"LC_ALL": "C.UTF-8"})
    check("\u2588" in fancy, "bars in a UTF-8 locale")


def test_codes(stwo, source):
    listed = {c["code"]: c["exit_code"] for c in stwo.json("--list-codes")["codes"]}
    got, out, _ = stwo.run("--list-codes")
    check(got == 0 and all(c in out for c in listed), "--list-codes")
    check(list(listed) == sorted(listed), "--list-codes is not sorted")
    if not source:
        return
    for folder, _, names in (*os.walk(os.path.join(source, "prover")),
                             *os.walk(os.path.join(source, "kernels"))):
        for name in names:
            if not name.endswith((".cpp", ".hpp", ".h", ".cu", ".cuh")):
                continue
            with open(os.path.join(folder, name)) as f:
                content = f.read()
            for code in re.findall(r'(?:Error|fail\w*)\(\s*(?:[\w:.]+,\s*)?"([A-Z][A-Z_]{2,})"',
                                   content):
                check(code in listed, f"{name}: code {code} is not in --list-codes")
            # Codes that an error class hands to its base.
            for code in re.findall(r'ExitCode::k\w+,\s*"([A-Z][A-Z_]{2,})"', content):
                check(code in listed, f"{name}: code {code} is not in --list-codes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stwo")
    parser.add_argument("--oracle")
    parser.add_argument("--source")
    options = parser.parse_args()
    oracle = os.path.abspath(options.oracle) if options.oracle else None
    directory = tempfile.mkdtemp(prefix="stwo_cli_test.")
    stwo = Program(os.path.abspath(options.stwo), directory)
    try:
        test_help(stwo)
        test_codes(stwo, options.source)
        test_usage(stwo)
        text, digest = test_round_trip(stwo, oracle)
        test_receipts(stwo, digest, oracle)
        test_outputs(stwo, text)
        test_full_disk(stwo)
        test_cuda(stwo, text)
        test_interrupt(stwo)
        test_bad_files(stwo, text)
        test_bad_reports(stwo)
        test_cuda_reports(stwo)
        test_memory(stwo)
        test_locales(stwo)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(f"{CHECKS} checks, {len(FAILURES)} failed")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
