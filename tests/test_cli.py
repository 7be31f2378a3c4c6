from __future__ import annotations

import json
import os
import re
import select
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from projects import AB, BROKEN, PROGRAM, UNCHECKED, allow, run, write
from spec import call

from layerguard import __version__
from layerguard.reporters import REPORTERS
from layerguard.start import main
from layerguard.surroundings import FORMATS, default_format

FULL = """\
app/a.py:3:8: LG103 [ab] app.a imports app.b
  |
3 | import app.b
  |        ^^^^^
  = because: They are sold apart.
  = hint: Ask app.base.

Found 1 violation: 1 of 1 contracts broken, 0 allowed. 3 of 3 files, 2 imports.
"""
CONCISE = """\
app/a.py:3:8: LG103 [ab] app.a imports app.b
Found 1 violation: 1 of 1 contracts broken, 0 allowed. 3 of 3 files, 2 imports.
"""
KEPT = "1 contract kept, 1 allowed. 3 of 3 files, 2 imports.\n"
NOTE = f"note: {UNCHECKED}\n"
NOTE_BYTES = NOTE.encode()
ALLOWANCES = "contracts/allowances.toml"


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one violation, which is the current folder."""
    monkeypatch.chdir(write(tmp_path, BROKEN))
    return tmp_path


@pytest.fixture
def kept(broken: Path) -> Path:
    """The same, with its violation allowed."""
    return write(broken, {ALLOWANCES: allow("app.a -> app.b")})


def layerguard(*words: str) -> tuple[int, str, str]:
    """Status, standard output and standard error."""
    return call(main, list(words))


class TestCheck:
    def test_statuses(self, broken: Path) -> None:
        assert layerguard("check") == (1, FULL, NOTE)
        assert layerguard("check", "--exit-zero") == (0, FULL, NOTE)
        assert layerguard("check", "app/b.py")[0] == 0
        write(broken, {ALLOWANCES: allow("app.a -> app.b")})
        assert layerguard("check") == (0, KEPT, NOTE)
        write(broken, {ALLOWANCES: allow("app.a -> app.c")})
        assert layerguard("check")[0] == 1
        write(broken, {ALLOWANCES: ""})
        assert layerguard("check", "--exit-zero") == (
            2,
            "",
            (
                f"error: {ALLOWANCES}: the allowance file has no 'version'.\n"
                "  hint: This layerguard reads version = 1.\n"
            ),
        )

    @pytest.mark.usefixtures("broken")
    def test_options(self) -> None:
        assert layerguard("check", "--output-format", "concise") == (1, CONCISE, NOTE)
        assert layerguard("check", "--contract", "ab", "--contract", "ab", "app") == (1, FULL, NOTE)
        status, out, err = layerguard("check", "--output-format", "json")
        assert (status, err) == (1, NOTE)
        assert [each["code"] for each in json.loads(out)["violations"]] == ["LG103"]

    def test_allowed_ones_are_shown_when_asked_for(self, kept: Path) -> None:
        assert kept.is_dir()
        assert layerguard("check", "--show-allowed", "--output-format", "concise") == (
            0,
            f"app/a.py:3:8: LG103 [ab] app.a imports app.b (allowed)\n{KEPT}",
            NOTE,
        )

    def test_warnings_do_not_fail(self, broken: Path) -> None:
        write(broken, {"layerguard.toml": f'{AB}severity = "warning"\n'})
        assert layerguard("check", "--output-format", "concise") == (
            0,
            (
                "app/a.py:3:8: LG103 [ab] warning: app.a imports app.b\n"
                "Found 1 warning: 1 of 1 contracts broken, 0 allowed. 3 of 3 files, 2 imports.\n"
            ),
            NOTE,
        )

    def test_notes_go_to_standard_error(self, broken: Path) -> None:
        entry = allow("app.a -> app.b").replace("{}", "{ review-by = 2001-02-03 }")
        write(broken, {ALLOWANCES: entry})
        assert layerguard("check") == (
            0,
            KEPT,
            (
                f"{NOTE}note: {ALLOWANCES}:4: warning: the allowance 'app.a -> app.b' "
                "was to be reviewed by 2001-02-03\n"
            ),
        )

    def test_from_a_folder_below(self, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(broken / "app")
        assert layerguard("check") == (1, FULL, NOTE)
        assert layerguard("check", "a.py") == (1, FULL, NOTE)
        assert layerguard("check", "b.py")[0] == 0
        assert layerguard("check", "--output-file", "report.txt") == (1, "", NOTE)
        assert (broken / "app/report.txt").read_text() == FULL

    @pytest.mark.usefixtures("broken")
    @pytest.mark.parametrize(
        ("words", "err"),
        [
            (
                ["check", "--contract", "abc"],
                "error: there is no contract 'abc'.\n  hint: Did you mean 'ab'? Known are 'ab'.\n",
            ),
            (["check", "gone.py"], "error: 'gone.py': there is no such file or folder.\n"),
        ],
    )
    def test_mistakes(self, words: list[str], err: str) -> None:
        assert layerguard(*words) == (2, "", err)

    def test_outside_of_a_project(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        status, out, err = layerguard("check", "--output-file", "report.txt")
        assert (status, out) == (2, "")
        assert err.startswith("error: no configuration: neither 'layerguard.toml' nor a 'pyproject.toml'")
        assert err.endswith("\n  hint: Write a 'layerguard.toml' into the project's root folder.\n")
        assert list(tmp_path.iterdir()) == []


class TestUsage:
    def test_version_and_help(self) -> None:
        assert layerguard("--version") == (0, f"layerguard {__version__}\n", "")
        for words in (["--help"], ["-h"], ["check", "-h"], ["ratchet", "--help"], ["explain", "-h"]):
            status, out, err = layerguard(*words)
            assert (status, err) == (0, "")
            assert out.startswith("Usage: layerguard ")

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["chekc"], "No such command 'chekc'"),
            (["check", "--contracts", "x"], "No such option"),
            (["check", "--output-format", "xml"], "'xml' is not one of 'full'"),
            (["check", "--output-file", "."], "is a directory"),
            (["explain"], "Missing argument 'CODE|KIND|ID'"),
            ([], "Usage: layerguard "),
        ],
    )
    def test_wrong_words(self, words: list[str], said: str) -> None:
        status, out, err = layerguard(*words)
        assert (status, out) == (2, "")
        assert said in err

    def test_the_formats_are_those_that_there_are(self) -> None:
        assert list(FORMATS) == list(REPORTERS)


class TestFormats:
    @pytest.mark.parametrize(
        ("environment", "name"),
        [
            ({}, "full"),
            ({"CI": "true"}, "full"),
            ({"GITHUB_ACTIONS": "true", "CI": "true"}, "github"),
            ({"GITHUB_ACTIONS": "false"}, "full"),
            ({"GITLAB_CI": "true", "CI": "true"}, "gitlab"),
            ({"GITLAB_CI": ""}, "full"),
        ],
    )
    def test_default(self, environment: dict[str, str], name: str) -> None:
        assert default_format(environment) == name

    @pytest.mark.usefixtures("broken")
    def test_a_ci_system_gets_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setenv("GITHUB_ACTIONS", "true")
            assert layerguard("check")[1].startswith("::error file=app/a.py,line=3,")
            assert layerguard("check", "--output-format", "full") == (1, FULL, NOTE)
        with monkeypatch.context() as patch:
            patch.setenv("GITLAB_CI", "true")
            [issue] = json.loads(layerguard("check")[1])
            assert issue["location"]["path"] == "app/a.py"


class TestOutputFile:
    def test_folders_are_made_and_nothing_is_printed(self, broken: Path) -> None:
        words = ["check", "--output-format", "concise", "--output-file", "out/reports/lint.txt"]
        assert layerguard(*words) == (1, "", NOTE)
        assert (broken / "out/reports/lint.txt").read_text() == CONCISE

    def test_through_a_link_with_its_permissions(self, broken: Path) -> None:
        write(broken, {"real.txt": "old and longer than what is new" * 99})
        (broken / "real.txt").chmod(0o640)
        (broken / "link.txt").symlink_to("real.txt")
        assert layerguard("check", "--output-file", "link.txt") == (1, "", NOTE)
        assert (broken / "link.txt").is_symlink()
        assert (broken / "real.txt").read_text() == FULL
        assert stat.S_IMODE((broken / "real.txt").stat().st_mode) == 0o640

    def test_that_cannot_be_written(self, broken: Path) -> None:
        err = f"error: 'app/a.py/x.txt' cannot be written: '{broken}/app/a.py' is no folder.\n"
        assert layerguard("check", "--output-file", "app/a.py/x.txt") == (2, "", NOTE + err)

    def test_of_a_check_that_could_not_be_made_stays(self, broken: Path) -> None:
        write(broken, {"report.txt": "old", ALLOWANCES: "version = 2\n"})
        assert layerguard("check", "--output-file", "report.txt")[0] == 2
        assert (broken / "report.txt").read_text() == "old"

    def test_standard_output_by_its_name(self, broken: Path) -> None:
        if not Path("/dev/stdout").exists():
            pytest.skip("no /dev/stdout here")
        done = run(broken, "check", "--output-file", "/dev/stdout")
        assert (done.returncode, done.stdout.decode(), done.stderr.decode()) == (1, FULL, NOTE)


class TestRatchet:
    def test_says_what_it_did(self, broken: Path) -> None:
        write(broken, {ALLOWANCES: allow("app.a -> app.b", "app.a:f -> app.b")})
        assert layerguard("ratchet", "--check") == (1, "removed 1, moved 0, kept 1\n", "")
        assert (broken / ALLOWANCES).read_text() == allow("app.a -> app.b", "app.a:f -> app.b")
        assert layerguard("ratchet") == (0, "removed 1, moved 0, kept 1\n", "")
        assert (broken / ALLOWANCES).read_text() == allow("app.a -> app.b")
        assert layerguard("ratchet", "--check") == (0, "removed 0, moved 0, kept 1\n", "")
        assert layerguard("ratchet") == (0, "removed 0, moved 0, kept 1\n", "")

    @pytest.mark.parametrize("value", ["true", "1", "yes"])
    def test_writes_nothing_in_a_ci_system(
        self, broken: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("CI", value)
        write(broken, {ALLOWANCES: allow("app.a:f -> app.b")})
        note = f"note: nothing was written to {ALLOWANCES}, because this is a CI system (CI is set).\n"
        assert layerguard("ratchet") == (1, "removed 1, moved 0, kept 0\n", note)
        assert layerguard("ratchet", "--check") == (1, "removed 1, moved 0, kept 0\n", "")
        assert (broken / ALLOWANCES).read_text() == allow("app.a:f -> app.b")
        write(broken, {ALLOWANCES: "version = 1\n"})
        assert layerguard("ratchet") == (0, "removed 0, moved 0, kept 0\n", "")

    @pytest.mark.parametrize("value", ["", "0", "false", "False"])
    def test_writes_where_ci_is_off(self, broken: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
        monkeypatch.setenv("CI", value)
        write(broken, {ALLOWANCES: allow("app.a:f -> app.b")})
        assert layerguard("ratchet") == (0, "removed 1, moved 0, kept 0\n", "")
        assert (broken / ALLOWANCES).read_text() == "version = 1\n"

    def test_tells_what_it_could_not_judge(self, broken: Path) -> None:
        write(broken, {ALLOWANCES: allow("app.a -> app.b", "app.a -> app.c"), "app/a.py": "def (:\n"})
        assert layerguard("ratchet") == (
            0,
            "removed 0, moved 0, kept 2\n",
            "note: 2 allowances could not be judged and stay, since not all was analysed: 'app/a.py'.\n",
        )

    def test_a_file_that_cannot_be_written(self, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        write(broken, {ALLOWANCES: allow("app.a:f -> app.b")})
        monkeypatch.setattr("tempfile.mkstemp", refused)
        assert layerguard("ratchet") == (
            2,
            "",
            f"error: '{broken / ALLOWANCES}' cannot be written: Permission denied.\n",
        )
        assert (broken / ALLOWANCES).read_text() == allow("app.a:f -> app.b")

    def test_a_file_that_is_none(self, broken: Path) -> None:
        text = 'version = 1\n[allow.ab]\n"app.a:f -> app.b" = {}\n>>>>>>> theirs\n'
        write(broken, {ALLOWANCES: text})
        assert layerguard("ratchet") == (
            2,
            "",
            (
                f"error: {ALLOWANCES}: line 4, column 1: a merge conflict is not resolved here: "
                "'>>>>>>> theirs'.\n  hint: Resolve the conflict and remove its markers.\n"
            ),
        )
        assert (broken / ALLOWANCES).read_text() == text


class TestExplain:
    @pytest.mark.usefixtures("kept")
    def test_prints(self) -> None:
        status, out, err = layerguard("explain", "ab")
        assert (status, err) == (0, "")
        assert out.startswith("ab: independence (LG103), layerguard.toml:2\n")
        assert layerguard("explain", "LG103")[1].startswith("LG103: independence\n\nNo member")
        assert layerguard("explain", "abc") == (
            2,
            "",
            "error: 'abc' is no code, no kind and no contract.\n  hint: Did you mean 'ab'?\n",
        )


class TestBytes:
    """What is printed depends on the project alone."""

    def test_locale_and_terminal_change_nothing(self, broken: Path) -> None:
        text = AB.replace("sold apart", "sold [apart] — für sich, 别")
        write(
            broken, {"layerguard.toml": text, "app/a.py": "'é'; import app.b\n", ALLOWANCES: "version = 1\n"}
        )
        expected = run(broken, "check")
        assert "'é'; import app.b".encode() in expected.stdout
        assert "für sich, 别".encode() in expected.stdout
        for environment in (
            {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "ascii"},
            {"PYTHONIOENCODING": "latin-1", "COLUMNS": "20", "LINES": "5"},
            {"COLUMNS": "7", "TERM": "dumb", "FORCE_COLOR": "1", "NO_COLOR": ""},
            {"PYTHONHASHSEED": "1"},
            {"PYTHONHASHSEED": "4242"},
        ):
            done = run(broken, "check", environment=environment)
            assert (done.returncode, done.stdout, done.stderr) == (1, expected.stdout, NOTE_BYTES), (
                environment
            )
        done = run(broken, "explain", "ab", environment={"PYTHONIOENCODING": "ascii"})
        assert "  because: They are sold [apart] — für sich, 别.\n".encode() in done.stdout
        assert (done.returncode, done.stderr) == (0, b"")

    def test_order_does_not_depend_on_hashes(self, tmp_path: Path) -> None:
        names = [f"m{number}" for number in range(12)]
        write(
            tmp_path,
            {
                "layerguard.toml": (
                    f'{AB.replace(AB[AB.index("modules") :], "")}modules = ["app.*"]\nreach = "transitive"\n'
                    '[[contract]]\nid = "circles"\nkind = "acyclic"\npackages = ["app"]\n'
                ),
                "app/__init__.py": "",
                **{
                    f"app/{name}.py": "".join(f"import app.{other}\n" for other in names if other != name)
                    for name in names
                },
                ALLOWANCES: f'{allow("app.m1 -> x", "app.m2 -> x")}[allow.no]\n"a -> b" = {{}}\n',
            },
        )
        runs = [
            run(tmp_path, "check", "--output-format", "json", environment={"PYTHONHASHSEED": seed})
            for seed in ("0", "1", "77")
        ]
        assert len(json.loads(runs[0].stdout)["violations"]) > 132
        assert runs[0].stdout == runs[1].stdout == runs[2].stdout

    def test_python_m_and_the_console_script_are_one(self, broken: Path) -> None:
        assert run(broken, "check").stdout.decode() == FULL


class TestTerminal:
    """A pseudo-terminal in the place of one of the streams."""

    @staticmethod
    def _run(root: Path, stream: str, words: list[str], **environment: str) -> tuple[bytes, bytes]:
        """Run with one stream on a terminal; return what the terminal got, and the other stream."""
        pty = pytest.importorskip("pty")
        ours, theirs = pty.openpty()
        other = "stderr" if stream == "stdout" else "stdout"
        process = subprocess.Popen(
            [*PROGRAM, *words],
            cwd=root,
            env=os.environ | environment,
            **{stream: theirs, other: subprocess.PIPE},
        )
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not part:
                break
            shown += part
        os.close(ours)
        rest = process.communicate(timeout=30)
        return shown.replace(b"\r\n", b"\n"), rest[0] or rest[1] or b""

    def test_colour(self, broken: Path) -> None:
        shown, err = self._run(broken, "stdout", ["check"], NO_COLOR="")
        assert shown.startswith(b"\x1b[1mapp/a.py\x1b[0m:3:8: \x1b[1;31mLG103\x1b[0m [ab] ")
        assert re.sub(rb"\x1b\[[0-9;]*m", b"", shown).decode() == FULL
        assert err.decode() == NOTE

    def test_no_colour(self, broken: Path) -> None:
        assert self._run(broken, "stdout", ["check"], NO_COLOR="1") == (FULL.encode(), NOTE_BYTES)

    def test_formats_for_machines_have_none(self, broken: Path) -> None:
        shown, _ = self._run(broken, "stdout", ["check", "--output-format", "json"], NO_COLOR="")
        assert b"\x1b" not in shown

    def test_a_file_gets_none(self, broken: Path) -> None:
        assert self._run(broken, "stdout", ["check", "--output-file", "r.txt"], NO_COLOR="") == (
            b"",
            NOTE_BYTES,
        )
        assert (broken / "r.txt").read_text() == FULL

    def test_short_work_shows_no_progress(self, broken: Path) -> None:
        assert self._run(broken, "stderr", ["check"]) == (NOTE_BYTES, FULL.encode())

    def test_long_work_shows_that_it_goes_on(self, broken: Path) -> None:
        write(broken, {"sitecustomize.py": SLOW})
        shown, out = self._run(broken, "stderr", ["check"], PYTHONPATH=str(broken))
        assert re.fullmatch(rb"(\rreading: [34] of 4 files\x1b\[K)+\r\x1b\[K" + re.escape(NOTE_BYTES), shown)
        assert out.startswith(b"app/a.py:3:8: LG103 ")
        done = run(broken, "check", environment={"PYTHONPATH": str(broken)})
        assert (done.stdout, done.stderr) == (out, NOTE_BYTES)


SLOW = """\
import os, time
opened = os.open
def slow(path, *how):
    if str(path).endswith(".py"):
        time.sleep(0.15)
    return opened(path, *how)
os.open = slow
"""
"""Makes the reading of every Python file take a while (in a project, as its `sitecustomize.py`)."""


class TestEndings:
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_a_closed_pipe(self, broken: Path, unbuffered: str) -> None:
        code = "import os\nimport app.b\n" + "def f():\n    import app.b\n" * 4000
        write(broken, {"app/a.py": code})
        process = subprocess.Popen(
            [*PROGRAM, "check"],
            cwd=broken,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"app/a.py:2:8: LG103 [ab] app.a imports app.b\n"
        process.stdout.close()
        assert process.stderr.read().decode() == NOTE
        process.stderr.close()
        assert process.wait(30) == 141

    @pytest.mark.parametrize("words", [["check"], ["ratchet"], ["explain", "ab"], ["explain", "LG103"]])
    def test_a_pipe_that_was_never_read(self, broken: Path, words: list[str]) -> None:
        ours, theirs = os.pipe()
        os.close(ours)
        try:
            done = subprocess.run(
                [*PROGRAM, *words], cwd=broken, stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=30
            )
        finally:
            os.close(theirs)
        assert (done.returncode, done.stderr.decode()) == (141, NOTE * (words == ["check"]))

    @pytest.mark.parametrize("count", [1, 900])
    def test_ctrl_c(self, broken: Path, count: int) -> None:
        """With many files the reading is in other processes, to which a terminal sends Ctrl-C too."""
        mark = broken / "reading"
        pause = 5 if count == 1 else 0.01
        slow = SLOW.replace("time.sleep(0.15)", f"open({str(mark)!r}, 'w').close(); time.sleep({pause})")
        write(broken, {"sitecustomize.py": slow, **{f"more/m{number}.py": "" for number in range(count)}})
        process = subprocess.Popen(
            [*PROGRAM, "check"],
            cwd=broken,
            env=os.environ | {"PYTHONPATH": str(broken)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + 20
        while not mark.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err.strip()) == (130, b"", b"interrupted")
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)

    def test_a_fault_of_ours_keeps_its_traceback(self, broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        assert broken.is_dir()
        monkeypatch.setattr("layerguard.run.check", fails)
        monkeypatch.setattr("sys.argv", ["layerguard", "check"])
        with pytest.raises(ZeroDivisionError):
            main()
