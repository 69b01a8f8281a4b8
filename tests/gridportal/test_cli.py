"""The command line as people and scripts meet it: help, version, and what wrong words are answered with."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
import typer
from typer.testing import CliRunner

from gridportal import cli

COMMANDS = (
    (),
    ("select",),
    ("serve",),
    ("prepare",),
    ("health",),
    ("settings",),
    ("demo",),
    ("doctor",),
    ("person",),
    ("person", "create"),
    ("testbed",),
    ("testbed", "up"),
    ("testbed", "run"),
    ("testbed", "status"),
)


def answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, output and error output of `gridportal WORDS`."""
    monkeypatch.setattr(sys, "argv", ["gridportal", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_both_spellings_of_help_work_everywhere(words):
    short, long = (CliRunner().invoke(cli.app, [*words, option]) for option in ("-h", "--help"))
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    assert "-h, --help" in short.output


def test_the_version_is_told(monkeypatch, capsys):
    assert answer(monkeypatch, capsys, "--version") == (0, f"gridportal {version('gridportal')}\n", "")


@pytest.mark.parametrize(
    ("words", "said", "where"),
    [
        (("blub",), "No such command 'blub'.", "gridportal --help"),
        (("testbed", "run"), "Missing argument 'nodes'.", "gridportal testbed run --help"),
        (("select", "--blub"), "No such option: --blub", "gridportal select --help"),
        (("demo", "--port", "x"), "--port is 'x'; accepted is a whole number.", "gridportal demo --help"),
    ],
)
def test_a_usage_error_is_one_sentence_that_ends_with_the_help_to_ask_for(monkeypatch, capsys, words, said, where):
    code, out, err = answer(monkeypatch, capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(said)
    assert err.endswith(f" See: {where}\n")
    assert err.count("\n") == 1


def test_bad_input_names_the_option_as_it_is_typed(monkeypatch, capsys):
    code, _, err = answer(monkeypatch, capsys, "demo", "--port", "80")
    assert (code, err) == (2, "--port is 80; accepted is a number from 1024 to 65535.\n")


def test_every_command_is_where_the_table_says():
    for name, command in typer.main.get_command(cli.app).commands.items():
        assert command.name == name
        assert command.help


def test_a_command_imports_nothing_of_the_others():
    program = (
        "import sys; from gridportal import cli; cli.app(['--version'], standalone_mode=False);"
        "print(sorted({'django', 'numpy', 'pydantic', 'rich.console'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
