"""What sbatch is given: golden text, and no way for a person's words out of their place."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.batch_system import RunSpec
from gridportal.base.errors import BackendError, InputError
from gridportal.slurm.by_hand import by_hand
from gridportal.slurm.submit import SlurmOptions, argv, job_name, parse_id, script
from scheduling.runs.adapters import recorder
from scheduling.runs.core.script import Script, render

SPEC = RunSpec("job-7-run-1", "#!/bin/bash\n# job 7\nset -u\necho hello\n", ("n3", "n1", "n2"), "/runs/7%", 90.0)
DATA = Path(__file__).with_name("data")


def test_the_argument_list_is_the_golden_one() -> None:
    options = SlurmOptions(
        partition="main",
        account="physics",
        qos="normal",
        constraint="fast&ib",
        gres="gpu:1",
        memory=1_500_000_000,
        cpus_per_rank=2,
        requeue=True,
        exclusive=True,
        hold=True,
    )
    assert argv(SPEC, options) == [
        "sbatch",
        "--parsable",
        "--job-name=gp-job-7-run-1",
        "--comment=job-7-run-1",
        "--nodes=3",
        "--ntasks=3",
        "--ntasks-per-node=1",
        "--nodelist=n3,n1,n2",
        "--distribution=arbitrary",
        "--chdir=/runs/7%",
        "--output=/runs/7%%/output.log",
        "--open-mode=append",
        "--export=ALL",
        "--requeue",
        "--time=2",
        "--partition=main",
        "--account=physics",
        "--qos=normal",
        "--constraint=fast&ib",
        "--gres=gpu:1",
        "--mem=1431M",
        "--cpus-per-task=2",
        "--exclusive",
        "--hold",
    ]


def test_what_is_not_chosen_is_left_to_the_cluster() -> None:
    words = argv(RunSpec("k", "true", ("n1",), "/r"), SlurmOptions())
    assert words[-1] == "--no-requeue"
    assert not [word for word in words if word.startswith(("--time", "--partition", "--mem"))]


def test_the_script_is_the_golden_one() -> None:
    assert script(SPEC) == (DATA / "script.sh").read_text(encoding="utf-8")


def test_by_hand_the_script_says_itself_what_the_portal_says_on_the_command_line() -> None:
    lines = by_hand(SPEC, SlurmOptions(memory=2**30, partition="compute", requeue=True)).splitlines()
    told = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]
    portals = ("sbatch", "--parsable", "--job-name", "--comment")
    chosen = argv(SPEC, SlurmOptions(memory=2**30, partition="compute", requeue=True))
    assert [word for each in told[1:] for word in shlex.split(each)] == [
        word for word in chosen if not word.startswith(portals)
    ]
    assert lines[1].startswith("#SBATCH --job-name=gp-"), "sbatch reads them first"
    assert not set(job_name(SPEC.key).split()) & {word.split("=")[-1] for word in told}, "the portal would follow it"


def test_by_hand_a_directory_with_a_space_is_one_word() -> None:
    lines = by_hand(RunSpec("k", "true", ("n1",), "/a run"), SlurmOptions()).splitlines()
    assert "#SBATCH '--chdir=/a run'" in lines


def test_the_script_of_a_run_that_records_its_communication_is_the_golden_one() -> None:
    run_dir = "/runs/job-7-run-1"
    recording = recorder.prefix(Path("/runs/.trace/trace-0123456789abcdef.so"), f"{run_dir}/{recorder.FOLDER}")
    inner = Script(
        title="job-7-run-1: NAS CG",
        method="pattern",
        nodes=("n3", "n1", "n2"),
        argv=(*recording, "/opt/python", "-m", "gridportal.workloads.cg", "--class", "S"),
        run_dir=run_dir,
        again=True,
    )
    found = script(RunSpec("job-7-run-1", render(inner), inner.nodes, run_dir, 90.0))
    assert found == (DATA / "traced.sh").read_text(encoding="utf-8")


def test_the_script_is_bash_and_writes_the_nodes_in_rank_order(tmp_path: Path) -> None:
    spec = RunSpec("k", '#!/bin/bash\ncat "$SLURM_HOSTFILE"\n', ("n3", "n1", "n3"), str(tmp_path / "it's a dir"))
    Path(spec.run_dir).mkdir()
    done = subprocess.run(["bash", "-s"], input=script(spec), capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.split() == ["n3", "n1", "n3"]
    subprocess.run(["bash", "-n", f"{spec.run_dir}/slurm.launch"], check=True, timeout=20)


def test_mpiexec_finds_the_launcher_where_the_run_directory_has_a_space(tmp_path: Path) -> None:
    spec = RunSpec("k", '#!/bin/bash\ncommand -v "$HYDRA_LAUNCHER_EXEC"\n', ("n1",), str(tmp_path / "a run"))
    Path(spec.run_dir).mkdir()
    assert "HYDRA_LAUNCHER_EXEC=slurm.launch " in script(spec)
    done = subprocess.run(["bash", "-s"], input=script(spec), capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.strip() == f"{spec.run_dir}/slurm.launch"


def test_directives_in_a_persons_text_are_not_read() -> None:
    text = script(RunSpec("k", "#SBATCH --uid=0\ntrue\n", ("n1",), "/r"))
    assert text.index("export SLURM_HOSTFILE") < text.index("#SBATCH")


def test_several_ranks_on_a_node_count_as_tasks() -> None:
    words = argv(RunSpec("k", "true", ("n2", "n1", "n2", "n1"), "/r"), SlurmOptions())
    assert {"--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--nodelist=n2,n1"} <= set(words)
    assert "--exclusive" not in words


def test_what_each_rank_needs_is_asked_for_on_each_node() -> None:
    spec = RunSpec(
        "k",
        "true",
        ("n1", "n2", "n1", "n2"),
        "/r",
        cpus_per_rank=2,
        memory_per_rank=300,
        gres_per_rank="gpu:a100:2,nic",
    )
    assert argv(spec, SlurmOptions())[-3:] == ["--gres=gpu:a100:4,nic:2", "--mem=600M", "--cpus-per-task=2"]
    chosen = argv(spec, SlurmOptions(gres="gpu:8", memory=2**30, cpus_per_rank=2))
    assert chosen[-3:] == ["--gres=gpu:8", "--mem=1024M", "--cpus-per-task=2"]


def test_the_step_that_starts_all_ranks_of_a_node_has_the_processors_of_all() -> None:
    even = script(RunSpec("k", "true", ("n1", "n2", "n1", "n2"), "/r", cpus_per_rank=3))
    assert "--ntasks=1 --cpus-per-task=6 --nodelist" in even
    assert "unset SLURM_CPUS_PER_TASK" in even
    uneven = script(RunSpec("k", "true", ("n1", "n2", "n1"), "/r"))
    assert "--ntasks=1 --nodelist" in uneven
    assert "unset SLURM_CPUS_PER_TASK" in uneven


def test_nodes_with_unlike_numbers_of_ranks_are_asked_for_as_a_whole() -> None:
    spec = RunSpec("k", "true", ("n1", "n2", "n1", "n1"), "/r", memory_per_rank=300, gres_per_rank="gpu:2")
    words = argv(spec, SlurmOptions())
    assert {"--nodes=2", "--ntasks=4", "--nodelist=n1,n2"} <= set(words)
    assert words[-3:] == ["--gres=gpu:2", "--mem=0", "--exclusive"]
    assert not [word for word in words if word.startswith("--ntasks-per-node")]


def test_where_nodes_are_shared_unlike_numbers_of_ranks_are_parts_of_one_job() -> None:
    nodes = ("n2", "n1", "n2", "n3", "n2")
    spec = RunSpec("k", "true", nodes, "/r", 90.0, cpus_per_rank=2, memory_per_rank=300, gres_per_rank="gpu:2")
    words = argv(spec, SlurmOptions(shared=True, partition="main"))
    one, other = words[2 : words.index(":")], words[words.index(":") + 1 :]
    assert {"--nodes=1", "--ntasks=3", "--ntasks-per-node=3", "--nodelist=n2", "--gres=gpu:6", "--mem=900M"} <= set(one)
    assert {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--nodelist=n1,n3", "--gres=gpu:2"} <= set(other)
    same = {"--job-name=gp-k", "--comment=k", "--time=2", "--partition=main", "--cpus-per-task=2"}
    assert same <= set(one) & set(other)
    assert "--exclusive" not in words
    whole = argv(spec, SlurmOptions(shared=True, exclusive=True))
    assert ":" not in whole
    assert "--exclusive" in whole
    assert ":" not in argv(replace(spec, nodes=("n1", "n2")), SlurmOptions(shared=True))
    assert ":" not in argv(replace(spec, finds_nodes=True), SlurmOptions(shared=True))
    many = tuple(f"n{size}" for size in range(1, 130) for _ in range(size))
    assert argv(replace(spec, nodes=many[1:]), SlurmOptions(shared=True)).count(":") == 127
    assert "--exclusive" in argv(replace(spec, nodes=many), SlurmOptions(shared=True))


def test_licenses_are_asked_for_once_whatever_the_number_of_parts() -> None:
    words = argv(RunSpec("k", "true", ("n1", "n2", "n1"), "/r"), SlurmOptions(shared=True, licenses="solver:2"))
    assert words.count("--licenses=solver:2") == 1
    assert words.index("--licenses=solver:2") < words.index(":")


def test_the_launchers_of_a_job_in_parts_say_in_which_a_node_is(tmp_path: Path) -> None:
    spec = RunSpec("k", "#!/bin/bash\nenv", ("n2", "n1", "n2"), str(tmp_path), cpus_per_rank=2)
    text = script(spec, SlurmOptions(shared=True))
    done = subprocess.run(["bash", "-s"], input=text, capture_output=True, text=True, check=True, timeout=20)
    assert f"OMPI_MCA_plm_rsh_agent={tmp_path}/slurm.launch" in done.stdout.splitlines()
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "srun").write_text('#!/bin/sh\necho "$@"\n')
    (bin_dir / "srun").chmod(0o755)
    for node, part, cpus in (("n2", 0, 4), ("n1", 1, 2)):
        argv_ = [f"{tmp_path}/slurm.launch", "-x", node, "proxy"]
        path = {"PATH": f"{bin_dir}:/usr/bin:/bin"}
        started = subprocess.run(argv_, capture_output=True, text=True, check=True, timeout=20, env=path)
        assert f"--cpus-per-task={cpus} --het-group={part} " in started.stdout
    assert "--het-group" not in script(spec)


def test_the_ranks_of_a_node_have_their_processors_in_each_part_of_a_job() -> None:
    text = script(RunSpec("k", "true", ("n1", "n1", "n1", "n2", "n3"), "/r"), SlurmOptions(shared=True))
    assert "  n1) part=0 cpus=3 ;;\n  n2|n3) part=1 cpus=1 ;;" in text
    assert text.count("--cpus-per-task") == 1
    whole = script(RunSpec("k", "true", ("n1", "n1", "n2"), "/r"), SlurmOptions())
    assert "--cpus-per-task" not in whole


def test_by_hand_parts_stand_one_after_the_other() -> None:
    lines = by_hand(RunSpec("k", "true", ("n1", "n2", "n1"), "/r"), SlurmOptions(shared=True)).splitlines()
    at = lines.index("#SBATCH hetjob")
    assert "#SBATCH --nodelist=n1" in lines[:at]
    assert "#SBATCH --nodelist=n2" in lines[at:]


@pytest.mark.parametrize(
    ("spec", "options", "named"),
    [
        (RunSpec("k", "true", (), "/r"), SlurmOptions(), "nodes is 0"),
        (RunSpec("k", "true", ("n1,n2",), "/r"), SlurmOptions(), r"nodes\[0\] is 'n1,n2'"),
        (RunSpec("k", "true", ("/etc/passwd",), "/r"), SlurmOptions(), r"nodes\[0\]"),
        (RunSpec("", "true", ("n1",), "/r"), SlurmOptions(), "key is empty"),
        (RunSpec("a\nb", "true", ("n1",), "/r"), SlurmOptions(), "key is"),
        (RunSpec("k", "true", ("n1",), "relative"), SlurmOptions(), "run_dir is 'relative'"),
        (RunSpec("k", "true", ("n1",), "/r", -1.0), SlurmOptions(), "time_limit is -1.0"),
        (RunSpec("k", "true", ("n1",), "/r"), SlurmOptions(memory=0), "memory is 0"),
        (RunSpec("k", "true", ("n1",), "/r", cpus_per_rank=0), SlurmOptions(), "cpus_per_rank is 0"),
        (RunSpec("k", "true", ("n1",), "/r", memory_per_rank=0), SlurmOptions(), "memory_per_rank is 0"),
        (RunSpec("k", "true", ("n1",), "/r", gres_per_rank="g p:x:y"), SlurmOptions(), "gres_per_rank is"),
        (RunSpec("k", "true", ("n1",), "/r"), SlurmOptions(partition="a\x00b"), "partition is"),
    ],
)
def test_what_cannot_be_submitted_is_named(spec: RunSpec, options: SlurmOptions, named: str) -> None:
    with pytest.raises(InputError, match=named):
        argv(spec, options)


@given(st.text(min_size=1), st.text(min_size=1))
def test_job_names_are_plain_and_two_keys_never_share_one(one: str, two: str) -> None:
    assert (job_name(one) == job_name(two)) == (one == two)
    assert job_name(one).replace("-", "").replace("_", "").replace(".", "").isalnum()
    assert len(job_name(one)) <= 100


def test_the_id_is_found_among_the_words_of_a_site() -> None:
    assert parse_id("Welcome!\n4711;hpc\n") == "4711"
    with pytest.raises(BackendError, match="sbatch gave an answer without a job id: 'Submitted'"):
        parse_id("Submitted\n")
