"""Computes the numbers of a report's analysis a second time, from the report itself.
check_numbers.py REPORT.json PEAK_BYTES_PER_S: the analysis on stdin; a line per difference."""
import json
import sys

STAGES = ("ingress trace_generation trace_commit constraint_evaluation oods quotient fri_commit pow "
          "decommit proof_assembly").split()


def floor_ns(moved, peak):
    """Half a nanosecond rounds up."""
    return (2 * moved * 10**9 + peak) // (2 * peak)


def statistics(values):
    ordered = sorted(values)
    return {"min": ordered[0], "median": ordered[(len(ordered) - 1) // 2], "max": ordered[-1]}


def expected(report, peak):
    requests = report["requests"]
    steady = [r for r in requests if r["role"] == "steady"]
    parts = ["resident_prove", "encode", "terminal_decode", "independent_verification"]
    steady_ns = {k: statistics([r[k] for r in steady])
                 for k in ["verified_request", *parts, "device_elapsed"]}
    steady_ns["other"] = statistics([r["verified_request"] - sum(r[p] for p in parts) for r in steady])
    steady_ns["host_gap"] = statistics([r["resident_prove"] - r["device_elapsed"] for r in steady])

    life = {k: v for k, v in report["lifecycle_ns"].items() if k != "total_before_publication"}
    for role in ("warmup", "steady"):
        life[role + "_requests"] = sum(r["verified_request"] for r in requests if r["role"] == role)
    total = report["lifecycle_ns"]["total_before_publication"]
    life["other"] = total - sum(life.values())
    life["total"] = total

    moved = [p["input_bytes"] + p["output_bytes"] + p["reread_bytes"] for p in report["pass_ledger"]]
    times = report["device_stage_ns"]
    stages = []
    for stage in sorted(STAGES, key=lambda s: (-times["median"][s], STAGES.index(s))):
        of_stage = [b for b, p in zip(moved, report["pass_ledger"]) if p["stage"] == stage]
        stages.append({
            "stage": stage, "first_ns": times["first"][stage], "min_ns": times["min"][stage],
            "median_ns": times["median"][stage],
            "share": times["median"][stage] / sum(times["median"][s] for s in STAGES),
            "floor_ns": floor_ns(sum(of_stage), peak) if of_stage else None})
    memory = {k: v for k, v in report["memory"].items() if k not in ("admitted", "in_flight_multiplier")}
    vectors = {block: {k: {"first": v[0], "steady": v[-1]} for k, v in report[block].items()}
               for block in ("counters", "transfers")}
    return {
        "lifecycle_ns": life, "steady_ns": steady_ns, "stages": stages, "memory": memory,
        "submit_ns": report["stage_ns"]["median"]["total"], **vectors,
        "passes": [{"stage": p["stage"], "pass": p["pass"], "kernel": p["kernel"],
                    "launches": p["launches"], "barriers": p["barriers"], "moved_bytes": b,
                    "temporary_bytes": p["temporary_bytes"], "floor_ns": floor_ns(b, peak)}
                   for b, p in zip(moved, report["pass_ledger"])]}


def differences(want, found, path):
    if isinstance(want, dict) and isinstance(found, dict):
        for key in want.keys() | found.keys():
            if (key in want) != (key in found):
                yield f"{path}/{key}: only in {'the report' if key in want else 'the analysis'}"
            else:
                yield from differences(want[key], found[key], f"{path}/{key}")
    elif isinstance(want, list) and isinstance(found, list) and len(want) == len(found):
        for i, pair in enumerate(zip(want, found)):
            yield from differences(*pair, f"{path}/{i}")
    elif isinstance(want, float):
        if abs(want - found) > 1e-12:
            yield f"{path}: expected {want}, found {found}"
    elif want != found:
        yield f"{path}: expected {want}, found {found}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        want = expected(json.load(file), int(sys.argv[2]))
    analysis = json.load(sys.stdin)
    found = list(differences(want, {k: analysis[k] for k in want}, ""))
    print("\n".join(sorted(found)), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
