#!/usr/bin/env python3
"""Puts the changed proof files of tests/prover/tamper_test to the stwo crate's verifier.

    STWO_TAMPER_DUMP=tamper.jsonl tamper_test
    tamper_compare.py tamper.jsonl ORACLE

ORACLE is the binary of tests/oracle. Exit status 0: the crate agrees on every file. It may accept
what we refuse only where the dump allows it, for the reasons in ALLOWED; it must accept whatever we
accept. Files on which the crate panics count as refused and are listed apart.
"""

import argparse
import collections
import json
import subprocess
import sys

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


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dump", help="file written by tamper_test; its index is DUMP.index")
    parser.add_argument("oracle", help="binary of tests/oracle")
    arguments = parser.parse_args()

    index = read_index(arguments.dump + ".index")
    verdicts = ask_oracle(arguments.oracle, arguments.dump)
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
    sys.exit(1 if looser or stricter or unknown else 0)


if __name__ == "__main__":
    main()
