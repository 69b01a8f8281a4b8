#!/usr/bin/env python3
# ruff: noqa: T201
"""sbatch, squeue, sacct, scancel and scontrol in one small script: the name that it is called by decides.

Its state is cluster.json beside it. `mode` there makes it misbehave: garbage, partial (some garbage lines), slow,
silent, down, munge, late (sbatch takes the job and breaks off).
"""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
NAME = os.path.basename(sys.argv[0])
ARGV = sys.argv[1:]
SEP = "\x1f"


def main():
    state = load()
    with open(os.path.join(HERE, "calls.jsonl"), "a") as calls:
        calls.write(json.dumps({"name": NAME, "argv": ARGV, "environ": dict(os.environ)}) + "\n")
    misbehave(state["mode"])
    return {"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel, "scontrol": scontrol}[NAME](state)


def misbehave(mode):
    if mode == "slow":
        time.sleep(60)
    if mode == "silent":
        sys.exit(0)
    if mode == "garbage":
        sys.stdout.write("<html>\x00\x1b[31m502 Bad Gateway\n" * 3)
        sys.exit(0)
    if mode == "down":
        fail(f"{NAME}: error: Unable to contact slurm controller (connect failure)")
    if mode == "munge":
        fail("slurm_load_jobs error: Protocol authentication error")


def sbatch(state):
    job = {
        "id": str(state["next"]),
        "state": "PENDING",
        "exit_code": 0,
        "name": option("--job-name"),
        "comment": option("--comment"),
        "reason": "Priority",
        "script": sys.stdin.read(),
    }
    if option("--partition") == "nowhere":
        fail("sbatch: error: Batch job submission failed: Invalid partition name specified")
    state["next"] += 1
    state["jobs"].append(job)
    save(state)
    if state["mode"] == "late":
        fail("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
    print("Welcome to the cluster!")
    print(job["id"] + ";fake")


def squeue(state):
    fields = option("--Format").split(",")
    if state["mode"] == "partial":
        print("slurm_load_node: some warning that went to stdout")
        print(SEP.join(["oops"] * len(fields)))
    found = [job for job in wanted(state) if not job.get("forgotten")]
    if option("--jobs") and "," not in option("--jobs") and not found:
        fail("slurm_load_jobs error: Invalid job id specified")
    for job in found:
        values = {
            "JobArrayID": job["id"],
            "State": job["state"],
            "exit_code": job["exit_code"],
            "Name": job["name"],
            "StartTime": job.get("start", "N/A"),
            "EndTime": job.get("end", "N/A"),
            "RestartCnt": 0,
            "Reason": job.get("reason", "None"),
            "Comment": job.get("comment") or "(null)",
        }
        line = ""
        for field in fields:
            word, _, layout = field.partition(":")
            width = int(layout.rstrip(SEP))
            line += str(values[word])[:width].ljust(width) + SEP
        print(line)


def sacct(state):
    if not state["accounting"]:
        fail("Slurm accounting storage is disabled")
    for job in wanted(state):
        code = job["exit_code"]
        row = [
            job["id"],
            job["state"],
            f"{code >> 8}:{code & 127}",
            job.get("start", "Unknown"),
            job.get("end", "Unknown"),
            "n1",
            job["name"],
            job.get("reason", "None"),
            "",
        ]
        print(SEP.join(map(str, row)))


def scancel(state):
    found = [job for job in state["jobs"] if job["id"] == ARGV[-1]]
    if not found:
        fail(f"scancel: error: Kill job error on job id {ARGV[-1]}: Invalid job id specified")
    found[0]["state"] = "CANCELLED"
    save(state)


def scontrol(state):
    if "config" in ARGV:
        print("Configuration data as of 2026-11-20T19:22:30")
        print(f"AccountingStorageType   = accounting_storage/{'slurmdbd' if state['accounting'] else 'none'}")
        print("ClusterName             = fake\nMinJobAge               = 300 sec")
        print(f"SLURM_VERSION           = {state['version']}")
        print(f"SchedulerType           = {state.get('scheduler', 'sched/backfill')}")
    elif "nodes" in ARGV and "--json" in ARGV:
        print(json.dumps({"nodes": [{"name": "n1", "state": ["IDLE"], "cpus": 4}], "errors": []}))
    elif "nodes" in ARGV:
        print(
            "NodeName=n1 CPUAlloc=0 CPUTot=4 CPULoad=N/A NodeAddr=10.0.0.1 NodeHostName=n1 State=IDLE Partitions=main"
        )
    elif "release" in ARGV:
        fail("Access/permission denied for job 1")


def wanted(state):
    names, ids = option("--name"), option("--jobs")
    for job in state["jobs"]:
        if (not names or job["name"] in names.split(",")) and (not ids or root(job["id"]) in map(root, ids.split(","))):
            yield job


def root(identity):
    return identity.split("_")[0].split("+")[0]


def option(name):
    return next((word.split("=", 1)[1] for word in ARGV if word.startswith(name + "=")), "")


def load():
    with open(os.path.join(HERE, "cluster.json")) as file:
        return json.load(file)


def save(state):
    with open(os.path.join(HERE, "cluster.json.part"), "w") as file:
        json.dump(state, file)
    os.replace(os.path.join(HERE, "cluster.json.part"), os.path.join(HERE, "cluster.json"))


def fail(words):
    sys.stderr.write(words + "\n")
    sys.exit(1)


if __name__ == "__main__":
    main()
