"""Programs that do to their run directory whatever a program can, each a few lines of bash.

`nested N C` writes the character C that many times, and `judge` kills the batch script, so that what the program left
stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = r"""
nested() { head -c "$1" /dev/zero | tr '\0' "$2"; }
judge() { kill -KILL "$PPID"; sleep 600; }
report() { printf '%s\n' "$1" >> progress.jsonl; }
good() { report '{"t": 1790000000, "event": "result", "verified": true, "seconds": 1.5, "figures": {"a": 1}}'; }
"""


@dataclass(frozen=True)
class Hostile:
    """A program, how its job must end, and what the reason must say. `verified`: whether its result must be seen.

    `codes`: the exit codes that it may end with; None: it may succeed or fail, since it may not be allowed to do all.
    """

    name: str
    code: str
    codes: tuple[int, ...] | None = (0,)
    says: str = ""
    verified: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """The states that its job may end in."""
        if self.codes is None:
            return ("succeeded", "failed")
        return ("succeeded",) if self.codes == (0,) and not self.says else ("failed",)


DEEP = "progress.jsonl has a line that is nested more than 64 levels deep"


def _deep(depth: int) -> Hostile:
    line = 'printf \'{"event": "result", "verified": true, "figures": {"a": \'; nested %d "["; nested %d "]"; echo "}}"'
    code = f"{{ {line % (depth, depth)}; }} >> progress.jsonl; sleep 1"
    return Hostile(f"figures nested {depth} deep", code, says=DEEP)


def _record(text: str, says: str = "exit.json") -> Hostile:
    return Hostile(f"exit record {text[:40]}", f"printf '%s' '{text}' > exit.json; sleep 0.5; judge", (137,), says)


def _lines(name: str, *lines: str) -> Hostile:
    reports = "\n".join(f"report '{line}'" for line in lines)
    return _good(name, reports)


def _good(name: str, code: str) -> Hostile:
    """A program whose result must be seen, whatever else it does."""
    return Hostile(name, f"{code}\ngood", verified=True)


def _in_place(file: str, kind: str, make: str, says: str) -> Hostile:
    return Hostile(f"{file} is {kind}", f"rm -f {file}; {make}; sleep 1", says=f"{file} {says}")


LINKS = "output.log is a link"
SUCCESS = """echo '{"exit_code": 0}' > exit.json"""
DEEP_EVENTS = r"""
for event in start phase; do
  { printf '{"event": "%s", "hosts": ' $event; nested 3000 '['; nested 3000 ']'; echo '}'; } >> progress.jsonl
done
"""
MANY_HOSTS = r"""
{
  printf '{"t": 1, "event": "start", "hosts": ["a"'
  yes ',"b"' | head -n 100000 | tr -d '\n'
  echo ']}'
} >> progress.jsonl
"""
CHANGING = r"""
for i in $(seq 150); do
  mkfifo progress.jsonl; rm progress.jsonl
  ln -s /dev/zero progress.jsonl; rm progress.jsonl
  mkdir progress.jsonl; rmdir progress.jsonl
done
"""
OVERWRITTEN = r"printf 'exit 0\nexit 0\n' > script.sh; echo n99 > hosts; sleep 0.5; exit 5"
LINKED = """
cd /
mv "$GRIDPORTAL_RUN_DIR" "$GRIDPORTAL_RUN_DIR-moved" && ln -s /etc "$GRIDPORTAL_RUN_DIR"
sleep 1
"""
NO_SECONDS = ("NaN", "-1", "Infinity", '"1"', "true", "9" * 5000)
NO_TIMES = ("1e300", "-5", "1e400", "99999999999999", "null")
TIMED = '{"t": %s, "event": "phase", "phase": "x", "seconds": 1}'
PHASE = '{"t": 1790000000, "event": "phase", "phase": "x", "seconds": '
PROGRAMS = [
    *(_deep(depth) for depth in (66, 930, 970, 4000, 100_000)),
    _good("deep lists of every event", DEEP_EVENTS),
    Hostile("an exit record while it runs", f"{SUCCESS}; sleep 1.5; exit 7", (7,), "exit code 7"),
    _good("4,000 brackets while it runs", "nested 4000 '[' > exit.json; sleep 1"),
    Hostile("4,000 brackets for ever", "nested 4000 '[' > exit.json; sleep 0.5; judge", (137,), "exit.json"),
    *(_record(f'{{"exit_code": {code}}}') for code in ("1e400", "-1", str(2**70), '"0"', "true", "null", "[]", "NaN")),
    Hostile("success by its own word", f"{SUCCESS}; judge", (137,)),
    Hostile("an exit record of a gigabyte", "truncate -s 1G exit.json; judge", (137,), "exit.json is larger than"),
    _in_place("exit.json", "a directory", "mkdir exit.json", "is a directory"),
    Hostile("the part of an exit record is a pipe", "mkfifo exit.json.part"),
    Hostile("exit.json is a pipe", "mkfifo exit.json; sleep 1; judge", (137,), "exit.json is a pipe"),
    Hostile("exit.json is /dev/zero", "ln -s /dev/zero exit.json; sleep 1; judge", (137,), "exit.json is a link"),
    _in_place("output.log", "a directory", "mkdir output.log", "is a directory"),
    _in_place("output.log", "a pipe", "mkfifo output.log", "is a pipe"),
    _in_place("output.log", "a link", "ln -s /etc/passwd output.log", "is a link"),
    _in_place("output.log", "a device", "ln -s /dev/zero output.log", "is a link"),
    Hostile("output.log has two names", "ln output.log other; sleep 1", says="output.log has a second name"),
    Hostile("output.log is gone", "rm output.log; echo lost; sleep 0.5"),
    Hostile("output.log has a terabyte of nothing", "truncate -s 1T output.log; sleep 1; echo the end"),
    Hostile("output of 200 MB", "yes 'a line of output' | head -c 200M; echo the end"),
    Hostile("output that is no text", "head -c 100000 /dev/urandom; exit 3", (3,), "exit code 3"),
    Hostile("output closed", "exec >&- 2>&-; sleep 0.5"),
    _in_place("progress.jsonl", "a pipe", "mkfifo progress.jsonl", "is a pipe"),
    _in_place("progress.jsonl", "a directory", "mkdir progress.jsonl", "is a directory"),
    _in_place("progress.jsonl", "a device", "ln -s /dev/zero progress.jsonl", "is a link"),
    _good("a line of 200 MB", "truncate -s 200M progress.jsonl; echo >> progress.jsonl"),
    _good("a terabyte of progress", "truncate -s 1T progress.jsonl; echo >> progress.jsonl"),
    _lines("phases beyond all time", *[PHASE + "1e308}"] * 3, PHASE + "1e400}", PHASE + "1e15}"),
    _lines("phases that are no numbers", *(PHASE + text + "}" for text in NO_SECONDS)),
    _lines("times that never were", *(TIMED % text for text in NO_TIMES)),
    _lines("halves of letters", '{"t": 1, "event": "start", "hosts": ["\\ud800"]}', PHASE + '1, "iteration": -3}'),
    _good("bytes that are no text", "head -c 300000 /dev/urandom >> progress.jsonl; echo >> progress.jsonl"),
    _good("NULs", "head -c 300000 /dev/zero >> progress.jsonl; echo >> progress.jsonl"),
    _good("a million phases", f"yes '{PHASE}1}}' | head -n 1000000 >> progress.jsonl"),
    _good("a hundred thousand hosts", MANY_HOSTS),
    _good("progress that changes its kind", CHANGING),
    Hostile("its script overwritten", OVERWRITTEN, (5,), "exit code 5"),
    _good("three thousand files", "mkdir -p trace; for i in $(seq 3000); do : > trace/rank-$i.json; done"),
    Hostile("its run directory removed", 'cd /; rm -rf "$GRIDPORTAL_RUN_DIR"; sleep 1', None),
    Hostile("its run directory renamed", 'mv "$GRIDPORTAL_RUN_DIR" "$GRIDPORTAL_RUN_DIR-gone"; sleep 1', None),
    Hostile("its run directory a link", LINKED, None),
    Hostile("its run directory closed", 'chmod 0 "$GRIDPORTAL_RUN_DIR"; sleep 1', None),
    Hostile("a child that stays", "setsid sleep 600 & echo left"),
    Hostile("a child without an environment", "env -i setsid sleep 600 > /dev/null 2>&1 & sleep 0.2"),
    Hostile("children that write on", "(while :; do echo on; sleep 0.05; done) & sleep 0.5; exit 0"),
    Hostile("ended by SIGSEGV", "kill -SEGV $$", (139,), "exit code 139"),
    Hostile("its script stopped by SIGTERM", 'kill -TERM "$PPID"; sleep 600', (143,), "exit code 143"),
    _good("half a million short lines", """yes '{"event"' | head -n 500000 >> progress.jsonl"""),
    _good(
        "text in other letters",
        r"""printf '\xff\xfe{\x00"event"\x00\r\n\xef\xbb\xbf{"event": 1}\n' >> progress.jsonl""",
    ),
    _good("figures of odd names", r"""report '{"event": "result", "figures": {"": {"": [null]}, "a\u0000": 1}}'"""),
    Hostile("output over itself", "exec > output.log 2>&1; yes | head -c 8M; echo the end"),
    Hostile("output in a loop of links", "rm output.log; ln -s a output.log; ln -s output.log a; sleep 1", says=LINKS),
    Hostile("a link for the part of a record", "ln -s /etc/passwd exit.json.part"),
    Hostile("nothing may be written", "chmod 0 output.log; ulimit -f 1; yes | head -c 10M", None),
    Hostile("nothing to execute", "exec /nonexistent/program", (127,), "exit code 127"),
    Hostile(
        "its script stopped for a while", 'kill -STOP "$PPID"; sleep 0.5; kill -CONT "$PPID"; exit 6', (6,), "code 6"
    ),
    Hostile("an exit code beyond a byte", "exit 300", (44,), "exit code 44"),
]
