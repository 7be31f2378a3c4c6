from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from projects import AB, BROKEN, UNCHECKED, allow, write

from layerguard.errors import UserError
from layerguard.model import Report
from layerguard.ratchet import Ratcheted, ratchet
from layerguard.run import check

TWO = f"""{AB}
[[contract]]
id = "pickle"
kind = "forbidden"
sources = ["app"]
targets = ["pickle"]
"""

STALE = {
    "layerguard.toml": TWO,
    "app/__init__.py": "",
    "app/a.py": "",
    "app/b.py": "",
    "app/sub/__init__.py": "",
    "app/sub/m.py": "",
    "contracts/allowances.toml": (
        f'{allow("app.a -> app.b")}\n[allow.pickle]\n"app.b -> pickle" = {{}}\n"app.sub.m -> pickle" = {{}}\n'
        '"app.sub.gone -> pickle" = {}\n'
    ),
}
"""Four entries that allow nothing, at the lines 4, 7, 8 and 9."""

ALLOWANCES = "contracts/allowances.toml"


def told(report: Report) -> list[tuple[str, int, int, str]]:
    return [
        (each.location.path, each.location.line, each.location.column, each.code)
        for each in report.violations
    ]


def stale(report: Report) -> list[int]:
    """The lines of the stale entries, which the summary has to count."""
    lines = [each.location.line for each in report.violations if each.code == "LG201"]
    assert report.summary.stale == len(lines)
    return lines


class TestWhole:
    def test_new_stale_unknown_and_allowed_in_one_report(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "layerguard.toml": TWO,
                "app/__init__.py": "",
                "app/a.py": "import pickle\nimport app.b\n",
                "app/b.py": "from app import a\n",
                "app/broken.py": "def (:\n",
                ALLOWANCES: (
                    f'{allow("app.a -> app.b", "app.b -> app.c")}[allow.nobody]\n"app.a -> app.b" = {{}}\n'
                ),
            },
        )
        report = check(tmp_path)
        assert told(report) == [
            ("app/a.py", 1, 8, "LG102"),
            ("app/b.py", 1, 17, "LG103"),
            ("app/broken.py", 1, 5, "LG401"),
            (ALLOWANCES, 5, 1, "LG201"),
            (ALLOWANCES, 7, 1, "LG203"),
        ]
        assert [each.excerpt for each in report.violations] == [
            "import pickle",
            "from app import a",
            "def (:",
            '"app.b -> app.c" = {}',
            '"app.a -> app.b" = {}',
        ]
        assert [(each.id, each.kept, each.violations, each.allowed) for each in report.contracts] == [
            ("ab", False, 1, 1),
            ("pickle", False, 1, 0),
        ]
        summary = report.summary
        assert (summary.files, summary.analysed, summary.modules, summary.imports) == (4, 3, 4, 3)
        assert (summary.contracts, summary.kept, summary.broken) == (2, 0, 2)
        assert (summary.violations, summary.allowed, summary.stale) == (5, 1, 1)
        assert report.failed

    def test_a_stale_entry_alone_fails_but_breaks_no_contract(self, tmp_path: Path) -> None:
        report = check(write(tmp_path, BROKEN | {"app/a.py": "", ALLOWANCES: allow("app.a -> app.b")}))
        assert [(each.code, each.message, each.hint) for each in report.violations] == [
            (
                "LG201",
                "the allowance 'app.a -> app.b' is no longer needed",
                "Run `layerguard ratchet`, which removes it.",
            )
        ]
        assert (report.summary.broken, report.contracts[0].kept, report.failed) == (0, True, True)

    def test_a_warning_is_told_and_does_not_fail(self, tmp_path: Path) -> None:
        report = check(write(tmp_path, BROKEN | {"layerguard.toml": f'{AB}severity = "warning"\n'}))
        assert [(each.code, each.severity) for each in report.violations] == [("LG103", "warning")]
        assert not report.failed

    def test_a_pattern_that_matches_nothing(self, tmp_path: Path) -> None:
        config = AB.replace('"app.b"]', '"app.gone"]')
        [violation] = check(write(tmp_path, BROKEN | {"layerguard.toml": config})).violations
        assert (violation.code, violation.message) == ("LG301", "the pattern 'app.gone' matches nothing")
        assert (violation.location.path, violation.location.line) == ("layerguard.toml", 2)
        assert (violation.contract, violation.because) == ("ab", "They are sold apart.")
        assert violation.hint == "Mend the pattern, or say `allow-empty = true` where that is meant."
        assert violation.excerpt == 'id = "ab"'
        allowed = {"layerguard.toml": f"{config}allow-empty = true\n"}
        assert check(write(tmp_path, BROKEN | allowed)).violations == ()

    def test_a_frozen_contract_allows_nothing(self, tmp_path: Path) -> None:
        report = check(
            write(
                tmp_path,
                BROKEN | {"layerguard.toml": f"{AB}frozen = true\n", ALLOWANCES: allow("app.a -> app.b")},
            )
        )
        assert [(each.code, each.message) for each in report.violations] == [
            ("LG103", "app.a imports app.b"),
            ("LG201", "the contract is frozen, so the allowance 'app.a -> app.b' allows nothing"),
        ]
        assert report.summary.allowed == 0

    def test_a_missing_file_of_allowances_is_an_error_when_it_is_named(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN | {"layerguard.toml": f'allowances = "known.toml"\n{AB}'})
        with pytest.raises(UserError) as caught:
            check(tmp_path)
        assert (
            caught.value.message
            == "known.toml: there is no such file, but 'allowances' in the configuration names it."
        )

    def test_nothing_to_look_at(self, tmp_path: Path) -> None:
        with pytest.raises(UserError) as caught:
            check(write(tmp_path, {"layerguard.toml": AB}))
        assert caught.value.message == f"'{tmp_path}': there is no Python file in this folder or below it."
        assert caught.value.hint == "Is this the project's root folder?"

    def test_review_dates(self, tmp_path: Path) -> None:
        today = datetime.now(UTC).date()
        entries = [
            f'"app.a{scope} -> app.b" = {{ review-by = {day} }}'
            for scope, day in [(":f", today - timedelta(days=2)), (":g", today + timedelta(days=2))]
        ]
        text = "\n".join(["version = 1", "[allow.ab]", *entries, '"app.a:h -> app.b" = {}', ""])
        code = "".join(f"def {name}():\n    import app.b\n" for name in "fgh")
        write(tmp_path, BROKEN | {"app/a.py": code, ALLOWANCES: text})
        report = check(tmp_path)
        assert (report.violations, report.summary.allowed) == ((), 3)
        assert report.notes == (
            UNCHECKED,
            (
                f"{ALLOWANCES}:3: warning: the allowance 'app.a:f -> app.b' was to be reviewed by "
                f"{today - timedelta(days=2)}"
            ),
        )


class TestExcerpts:
    @pytest.mark.parametrize(
        ("data", "line", "excerpt"),
        [
            (b"import app.b # \xc3\xa9", 1, "import app.b # é"),
            (b"# coding: latin-1\r\nimport app.b # \xe9\r\n", 2, "import app.b # é"),
            (b"x = '\xe2\x80\xa8'\n\x0cimport app.b\n", 2, "\x0cimport app.b"),
        ],
    )
    def test_the_line_as_it_is_written(self, tmp_path: Path, data: bytes, line: int, excerpt: str) -> None:
        write(tmp_path, BROKEN)
        (tmp_path / "app/a.py").write_bytes(data)
        [violation] = check(tmp_path).violations
        assert (violation.location.line, violation.excerpt) == (line, excerpt)

    def test_of_a_file_that_is_no_text(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN | {"app/a.py": ""})
        (tmp_path / "app/b.py").write_bytes(b"x = 1\ny = '\xff'\n")
        [violation] = check(tmp_path).violations
        assert told(check(tmp_path)) == [("app/b.py", 2, 6, "LG401")]
        assert violation.excerpt == "y = '\ufffd'"

    def test_of_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN | {"app/a.py": ""})
        (tmp_path / "app/c.py").symlink_to("gone.py")
        [violation] = check(tmp_path).violations
        assert (violation.message, violation.excerpt) == (
            "could not be analysed: broken link to 'gone.py'",
            "",
        )


class TestFingerprints:
    def test_they_stay_when_lines_move_and_differ_when_imports_do(self, tmp_path: Path) -> None:
        code = "import app.b\nimport app.b\ndef f():\n    import app.b\n"
        before = check(write(tmp_path, BROKEN | {"app/a.py": code})).violations
        after = check(write(tmp_path, {"app/a.py": f"# moved\n\n{code}"})).violations
        assert [each.fingerprint for each in before] == [each.fingerprint for each in after]
        assert len({each.fingerprint for each in before}) == 3


class TestPartialRuns:
    def test_the_whole(self, tmp_path: Path) -> None:
        assert stale(check(write(tmp_path, STALE))) == [4, 7, 8, 9]

    @pytest.mark.parametrize(
        ("contracts", "paths", "lines"),
        [
            (["ab"], [], [4]),
            (["pickle"], [], [7, 8, 9]),
            (["ab", "pickle"], [], [4, 7, 8, 9]),
            ([], ["app/a.py"], [4]),
            ([], ["app/sub"], [8]),
            ([], ["app/sub/", "app/b.py"], [7, 8]),
            ([], ["app/sub/m.py"], [8]),
            ([], ["app"], [4, 7, 8]),
            ([], ["."], [4, 7, 8, 9]),
            ([], [ALLOWANCES], [4, 7, 8, 9]),
            ([], ["contracts"], [4, 7, 8, 9]),
            (["pickle"], ["app/a.py"], []),
        ],
    )
    def test_only_what_was_looked_at_is_stale(
        self, tmp_path: Path, contracts: list[str], paths: list[str], lines: list[int]
    ) -> None:
        report = check(write(tmp_path, STALE), paths=paths, contracts=contracts)
        assert stale(report) == lines
        assert {each.code for each in report.violations} <= {"LG201"}

    def test_paths_limit_what_is_reported_and_not_what_is_read(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN | {"app/ab.py": "def (:\n", "app/a/x.py": "import app.b\n"})
        assert told(check(tmp_path, paths=["app/a.py"])) == [("app/a.py", 3, 8, "LG103")]
        assert told(check(tmp_path, paths=["app/a"])) == [("app/a/x.py", 1, 8, "LG103")]
        report = check(tmp_path, paths=["app/b.py"])
        assert (told(report), report.failed, report.summary.files) == ([], False, 5)

    def test_paths_are_relative_to_where_one_stands(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN)
        expected = [("app/a.py", 3, 8, "LG103")]
        assert told(check(tmp_path / "app", paths=["a.py"])) == expected
        assert told(check(tmp_path / "app", paths=["."])) == expected
        assert told(check(tmp_path / "app", paths=["../app/a.py"])) == expected
        assert told(check(tmp_path, paths=[tmp_path / "app/a.py"])) == expected
        assert told(check(tmp_path / "app", paths=["b.py"])) == []

    def test_paths_that_are_none_of_the_project(self, tmp_path: Path) -> None:
        root = write(tmp_path / "project", BROKEN)
        with pytest.raises(UserError) as caught:
            check(root, paths=["app/gone.py"])
        assert caught.value.message == "'app/gone.py': there is no such file or folder."
        with pytest.raises(UserError) as caught:
            check(root, paths=[".."])
        assert caught.value.message == f"'..' is outside the project root '{root}'."

    def test_an_unknown_contract(self, tmp_path: Path) -> None:
        write(tmp_path, STALE)
        with pytest.raises(UserError) as caught:
            check(tmp_path, contracts=["ab", "pikle"])
        assert caught.value.message == "there is no contract 'pikle'."
        assert caught.value.hint == "Did you mean 'pickle'? Known are 'ab', 'pickle'."

    def test_of_one_contract_the_others_are_not_counted(self, tmp_path: Path) -> None:
        report = check(write(tmp_path, STALE | {"app/a.py": "import pickle, app.b\n"}), contracts=["ab"])
        assert [(each.id, each.kept, each.allowed) for each in report.contracts] == [("ab", True, 1)]
        assert (report.violations, report.summary.contracts) == ((), 1)


class TestBadFiles:
    def test_what_a_bad_file_imports_is_not_known(self, tmp_path: Path) -> None:
        write(tmp_path, STALE | {"app/b.py": "def (:\n"})
        report = check(tmp_path)
        assert told(report)[0] == ("app/b.py", 1, 5, "LG401")
        assert stale(report) == [4, 8, 9]

    def test_a_relative_import_above_the_top_leaves_its_file_unknown(self, tmp_path: Path) -> None:
        write(tmp_path, STALE | {"app/b.py": "from ....x import y\nimport os\n"})
        report = check(tmp_path)
        assert told(report)[0][::3] == ("app/b.py", "LG401")
        assert stale(report) == [4, 8, 9]
        assert report.summary.analysed == report.summary.files

    @pytest.mark.parametrize(
        "contract",
        [
            'kind = "acyclic"\npackages = ["app"]\n',
            'kind = "independence"\nmodules = ["app.a", "app.b"]\nreach = "transitive"\n',
            'kind = "independence"\nmodules = ["app.a", "app.b"]\nreach = "load"\n',
        ],
    )
    def test_chains_and_circles_may_go_through_it(self, tmp_path: Path, contract: str) -> None:
        files = STALE | {
            "layerguard.toml": f'[[contract]]\nid = "ab"\n{contract}',
            ALLOWANCES: allow("app.a -> app.b"),
        }
        assert stale(check(write(tmp_path / "whole", files))) == [4]
        bad = write(tmp_path / "bad", files | {"app/sub/m.py": "def (:\n"})
        assert stale(check(bad)) == []
        done = ratchet(bad)
        assert (done.removed, done.kept) == (0, 1)
        assert done.notes == (
            "1 allowance could not be judged and stays, since not all was analysed: 'app/sub/m.py'.",
        )

    def test_which_names_a_bad_package_binds_is_not_known(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "layerguard.toml": '[[contract]]\nid = "there"\nkind = "existing"\npackages = ["app"]\n',
                "app/__init__.py": "",
                "app/a.py": "from app import gone\n",
                ALLOWANCES: allow("app.a -> app.gone", "app.x -> app.sub.gone", contract="there"),
            },
        )
        assert stale(check(tmp_path)) == [5]
        (tmp_path / "app/__init__.py").write_bytes(b"\0")
        assert stale(check(tmp_path)) == [5]

    def test_an_unreadable_folder_hides_its_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, STALE)
        scandir = os.scandir

        def refused(path: str) -> object:
            if str(path).rstrip("/").endswith("/app/sub"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refused)
        report = check(tmp_path)
        assert told(report)[0] == ("app/sub", 1, 1, "LG401")
        assert stale(report) == [4, 7]
        assert ratchet(tmp_path).kept == 2


class TestRatchet:
    def test_removes_and_says_so(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            BROKEN
            | {
                ALLOWANCES: (
                    "# Ours.\nversion = 1\n\n[allow.ab]\n# one\n'app.a -> app.b' = { reason = \"[x] # y\" }\n"
                    '"app.a:f -> app.b" = {}\n# two\n\n[allow.nobody]\n"app.a -> app.b" = {}\n'
                )
            },
        )
        left = (
            "# Ours.\nversion = 1\n\n[allow.ab]\n# one\n'app.a -> app.b' = { reason = \"[x] # y\" }\n# two\n"
        )
        before = (tmp_path / ALLOWANCES).read_text()
        assert ratchet(tmp_path, write=False) == Ratcheted(ALLOWANCES, removed=2, moved=0, kept=1)
        assert (tmp_path / ALLOWANCES).read_text() == before
        done = ratchet(tmp_path / "app")
        assert (done, done.changed) == (Ratcheted(ALLOWANCES, removed=2, moved=0, kept=1), True)
        assert (tmp_path / ALLOWANCES).read_text() == left
        assert check(tmp_path).violations == ()

    def test_a_second_one_changes_nothing(self, tmp_path: Path) -> None:
        write(tmp_path, STALE)
        assert ratchet(tmp_path).removed == 4
        path = tmp_path / ALLOWANCES
        text, place = path.read_bytes(), path.stat().st_ino
        assert text == b"version = 1\n"
        done = ratchet(tmp_path)
        assert (done, done.changed) == (Ratcheted(ALLOWANCES, removed=0, moved=0, kept=0), False)
        assert (path.read_bytes(), path.stat().st_ino) == (text, place)

    def test_never_adds(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN)
        assert ratchet(tmp_path) == Ratcheted(ALLOWANCES, removed=0, moved=0, kept=0)
        assert not (tmp_path / ALLOWANCES).exists()

    def test_line_ends_stay(self, tmp_path: Path) -> None:
        text = allow("app.a -> app.b", "app.a:f -> app.b").replace("\n", "\r\n")
        write(tmp_path, BROKEN | {ALLOWANCES: text})
        assert ratchet(tmp_path).removed == 1
        assert (tmp_path / ALLOWANCES).read_bytes() == allow("app.a -> app.b").replace("\n", "\r\n").encode()

    def test_leaves_alone_what_it_could_not_look_at(self, tmp_path: Path) -> None:
        write(tmp_path, STALE | {"app/b.py": "def (:\n", "app/sub/m.py": "import pickle\n"})
        done = ratchet(tmp_path)
        assert (done.removed, done.kept) == (2, 2)
        assert done.notes == (
            "1 allowance could not be judged and stays, since not all was analysed: 'app/b.py'.",
        )
        assert (tmp_path / ALLOWANCES).read_text() == (
            'version = 1\n\n[allow.pickle]\n"app.b -> pickle" = {}\n"app.sub.m -> pickle" = {}\n'
        )

    def test_takes_entries_of_a_frozen_contract(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            BROKEN | {"layerguard.toml": f"{AB}frozen = true\n", ALLOWANCES: allow("app.a -> app.b")},
        )
        assert ratchet(tmp_path).removed == 1
        assert [each.code for each in check(tmp_path).violations] == ["LG103"]

    def test_through_a_link(self, tmp_path: Path) -> None:
        write(tmp_path, BROKEN | {"known.toml": allow("app.a:f -> app.b")})
        (tmp_path / "contracts").mkdir()
        (tmp_path / ALLOWANCES).symlink_to("../known.toml")
        assert ratchet(tmp_path).removed == 1
        assert (tmp_path / ALLOWANCES).is_symlink()
        assert (tmp_path / "known.toml").read_text() == "version = 1\n"
