#!/usr/bin/env python3
"""Puts the changed proof files of tests/prover/tamper_test to the stwo crate's verifier.

    tamper_compare.py --tamper STWO_TAMPER_TESTS --oracle STWO_ORACLE
    tamper_compare.py --dump FILE --oracle STWO_ORACLE

FILE is what the test wrote under STWO_TAMPER_DUMP=FILE; with --tamper the test is run first. Exit
status 0: the crate agrees on every file. It may accept what we refuse only where the dump allows
it, for the reasons in ALLOWED; it must accept whatever we accept. Files on which the crate panics
count as refused and are listed apart.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

ALLOWED = {
    "encoding": "other bytes for the same proof; we accept one encoding only, so that a proof's "
                "hash names it",
    "empty_tree_witness": "hashes listed as witness of a tree without columns, which the crate "
                          "doesn't look at",
}
SHOWN = 20


def read_index(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ask_oracle(oracle, path):
    run = subprocess.run([oracle, "verify-batch", path], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.decode().splitlines()]


def show(title, lines):
    if not lines:
        return
    print(f"{title}: {len(lines)}")
    for line in lines[:SHOWN]:
        print(f"  {line}")
    if len(lines) > SHOWN:
        print(f"  and {len(lines) - SHOWN} more")


def compare(dump, oracle):
    index = read_index(dump + ".index")
    verdicts = ask_oracle(oracle, dump)
    if len(index) != len(verdicts):
        sys.exit(f"{len(index)} files in the index, {len(verdicts)} verdicts")

    counts = collections.Counter()
    allowed = collections.Counter()
    looser, stricter, unknown, panics = [], [], [], []
    for ours, crate in zip(index, verdicts):
        where = f"{ours['case']}: {ours['name']}: ours {ours['ours']}, crate {crate['reason']}"
        we_accept = ours["ours"] == "accepted"
        counts["accepted" if we_accept else "refused", "accepted" if crate["accepted"]
               else "panicked" if crate["panicked"] else "refused"] += 1
        if crate["panicked"]:
            panics.append(where)
        if we_accept and not crate["accepted"]:
            looser.append(where)
        elif crate["accepted"] and not we_accept:
            if ours["allow"] in ALLOWED:
                allowed[ours["allow"]] += 1
            elif ours["allow"]:
                unknown.append(where)
            else:
                stricter.append(where)

    for (ours, crate), n in sorted(counts.items()):
        print(f"ours {ours}, crate {crate}: {n}")
    for reason, n in sorted(allowed.items()):
        print(f"allowed, {reason}: {n} ({ALLOWED[reason]})")
    messages = collections.Counter(line.split("crate ", 1)[1] for line in panics)
    show("panics of the crate by message", [f"{n} x {m}" for m, n in messages.most_common()])
    show("ACCEPTED BY US, REFUSED BY THE CRATE", looser)
    show("ACCEPTED BY THE CRATE, REFUSED BY US, no reason given", stricter)
    show("ACCEPTED BY THE CRATE, REFUSED BY US, unknown reason", unknown)
    return 1 if looser or stricter or unknown else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--tamper", help="binary of tamper_test")
    source.add_argument("--dump", help="file written by tamper_test; its index is FILE.index")
    parser.add_argument("--oracle", required=True, help="binary of tests/oracle")
    arguments = parser.parse_args()
    if arguments.dump:
        sys.exit(compare(arguments.dump, arguments.oracle))
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "tamper.jsonl")
        subprocess.run([arguments.tamper, "--gtest_brief=1"], check=True,
                       env={**os.environ, "STWO_TAMPER_DUMP": dump})
        sys.exit(compare(dump, arguments.oracle))


if __name__ == "__main__":
    main()
