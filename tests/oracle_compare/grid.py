#!/usr/bin/env python3
"""Compares canonical proof bytes of our CPU prover with those of the Rust oracle.

usage: grid.py --prover STWO_PROVE_MANY --oracle STWO_ORACLE [--full]

Without --full a sensible subset runs (under a minute); with it the whole grid: every size and width,
both channels, fast, secure and all other configs. Statements both sides refuse count as agreement;
one that only one side refuses is a failure.
"""
import argparse
import itertools
import json
import subprocess
import sys
import time

LOGS = (4, 6, 8, 10, 12, 14)
WIDTHS = (3, 32, 37, 73, 100, 128)
CHANNELS = ("blake2s", "blake2s_m31")


def config(pow_bits=10, blowup=1, queries=3, last=0, fold=1, lift=None):
    return {
        "pow_bits": pow_bits,
        "fri_config": {
            "log_blowup_factor": blowup,
            "log_last_layer_degree_bound": last,
            "n_queries": queries,
            "fold_step": fold,
        },
        "lifting_log_size": lift,
    }


FAST = config()
SECURE = config(pow_bits=26, queries=70)
OTHERS = (
    config(blowup=2, queries=11, last=1),
    config(blowup=3, queries=7, last=2, fold=2),
    config(blowup=4, queries=5, last=3),
    config(blowup=1, queries=20, last=0, fold=3),
    config(blowup=2, queries=35, last=0, fold=4),
    config(pow_bits=0, blowup=1, queries=70, last=1, fold=2),
    config(pow_bits=5, blowup=2, queries=64, last=5, fold=1),
    config(pow_bits=12, blowup=4, queries=1, last=4, fold=3),
)


def plain(log, width, channel, cfg, mix=False):
    return {
        "air": "wide_fibonacci", "channel": channel, "mix_config": mix,
        "parameters": {"log_n_rows": log, "sequence_len": width}, "config": cfg,
    }


def seq(log, width, unused, channel, cfg, mix=False):
    return {
        "air": "wide_fibonacci_seq", "channel": channel, "mix_config": mix,
        "parameters": {"log_n_rows": log, "sequence_len": width, "unused_log_n_rows": unused},
        "config": cfg,
    }


def pair(first, second, enabled, channel, cfg, mix=False):
    return {
        "air": "wide_fibonacci_pair", "channel": channel, "mix_config": mix,
        "parameters": {
            "log_n_rows": first[0], "sequence_len": first[1],
            "second_log_n_rows": second[0], "second_sequence_len": second[1],
            "second_enabled": enabled,
        },
        "config": cfg,
    }


def variants(full):
    """Lifted trees, mixed sizes, preprocessed columns, degenerate widths and tiny sizes."""
    for channel in CHANNELS:
        for cfg in (FAST,) + OTHERS:
            yield pair((9, 4), (3, 5), 1, channel, cfg)
            yield pair((6, 3), (9, 7), 1, channel, cfg)
            yield pair((7, 5), (7, 4), 1, channel, cfg)
            yield pair((9, 4), (4, 5), 0, channel, cfg)
            yield seq(8, 5, 0, channel, cfg)
            yield seq(6, 3, 7, channel, cfg, mix=True)
        for blowup, extra, fold, last in itertools.product((1, 2, 3), (0, 1, 2, 3), (1, 2, 3, 4), (0, 2)):
            if not full and (blowup + extra + fold) % 3:
                continue
            cfg = config(blowup=blowup, queries=9, last=last, fold=fold, lift=8 + blowup + extra)
            yield seq(8, 4, 0, channel, cfg)
            yield seq(8, 6, 9, channel, cfg)
    for log, width in itertools.product((1, 2, 3, 4, 5), (1, 2, 3, 4, 15, 16, 17, 33)):
        for cfg in (FAST, config(blowup=2, last=1), config(blowup=3, fold=2)):
            yield plain(log, width, "blake2s", cfg)
    yield plain(5, 8, "blake2s", config(blowup=16))
    yield plain(9, 5, "blake2s", config(last=6, queries=4))
    yield plain(6, 7, "blake2s_m31", FAST, mix=True)
    # What both sides must refuse: no room to fold, lifting over an empty tree.
    yield plain(3, 4, "blake2s", config(fold=5))
    yield plain(4, 4, "blake2s", config(last=5))


def subset():
    for log, width, channel in itertools.product((4, 8, 12), (3, 37, 100), CHANNELS):
        yield plain(log, width, channel, FAST)
    for i, cfg in enumerate(OTHERS):
        for log, width in ((6, 32), (10, 73), (10, 128)):
            yield plain(log, width, CHANNELS[i % 2], cfg)
    yield plain(14, 32, "blake2s", FAST)
    yield plain(6, 100, "blake2s", SECURE)
    yield plain(10, 3, "blake2s_m31", SECURE)


def whole():
    for log, width, channel in itertools.product(LOGS, WIDTHS, CHANNELS):
        for cfg in (FAST, SECURE) + OTHERS:
            yield plain(log, width, channel, cfg)


def run(command, specs):
    begin = time.monotonic()
    text = "".join(json.dumps(s, separators=(",", ":")) + "\n" for s in specs)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"grid: {command[0]} exited with {done.returncode}: {done.stderr.strip()[:400]}")
    results = [json.loads(line) for line in done.stdout.splitlines()]
    if len(results) != len(specs):
        sys.exit(f"grid: {command[0]} gave {len(results)} results for {len(specs)} statements")
    return results, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prover", required=True)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    specs = list(whole() if args.full else subset()) + list(variants(args.full))
    ours, our_seconds = run([args.prover], specs)
    theirs, their_seconds = run([args.oracle, "prove-many", "-"], specs)
    equal = refused = 0
    failures = []
    for spec, a, b in zip(specs, ours, theirs):
        if a["error"] and b["error"]:
            refused += 1
        elif a["error"] or b["error"] or a["canonical_sha256"] != b["canonical_sha256"]:
            failures.append((spec, a, b))
        else:
            equal += 1
    for spec, a, b in failures[:20]:
        print("DIFFERS", json.dumps(spec))
        print("   ours ", a)
        print("   crate", b)
    print(f"grid: {equal} proofs byte-identical, {refused} refused by both, {len(failures)} differ "
          f"(ours {our_seconds:.1f} s, crate {their_seconds:.1f} s)")
    # A grid that compared nothing has failed.
    return 0 if not failures and equal > 100 else 1


if __name__ == "__main__":
    sys.exit(main())
