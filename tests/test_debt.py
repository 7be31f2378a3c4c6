from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from projects import AB, allow, run, write

from layerguard.debt import Change, Debt, measure, to_json, to_text
from layerguard.errors import UserError

PATH = "contracts/allowances.toml"
TWO = f'{AB}\n[[contract]]\nid = "none"\nkind = "forbidden"\nsources = ["app"]\ntargets = ["pickle"]\n'
AWAY = "this is no git checkout: nothing is known of the past."
NOBODY = "there is no CODEOWNERS file, so nobody owns an allowance."


def git(folder: Path, *arguments: str, day: int = 1) -> str:
    time = f"2026-01-{day:02} 23:30:00 -0200"  # the next day in UTC
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, "GIT_AUTHOR_DATE": "2001-01-01 00:00:00 +0000", "GIT_COMMITTER_DATE": time},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(root: Path, text: str, day: int) -> str:
    write(root, {PATH: text})
    git(root, "add", "-A", ":/")
    git(root, "commit", "-qm", str(day), day=day)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a repository but no commit; it is a folder of the repository, of an odd name."""
    top = tmp_path / "top"
    folder = write(
        top / "sub *[x]",
        {
            "layerguard.toml": TWO,
            "app/__init__.py": "",
            "app/a.py": "",
            "app/b/__init__.py": "",
            "docs/how to.md": "",
        },
    )
    write(top, {"CODEOWNERS": "* @all\n/sub\\ \\*[x]/app/a.py @a @x # two\n/sub*/app/b/\n"})
    git(top, "init", "-q", "-b", "main")
    return folder


def numbers(debt: Debt) -> list[tuple[str, str, int | None]]:
    return [(change.commit, change.date, change.allowances) for change in debt.history]


def dates(debt: Debt) -> list[tuple[str, str, str]]:
    return [(item.entry.key, item.since[:10], item.commit) for item in debt.items]


def test_owners_dates_and_numbers(root: Path) -> None:
    one = commit(root, allow("app.a -> app.b", "app.a -> app.c", "app.b -> app.a"), 1)
    two = commit(root, allow("app.a -> app.b", "app.b -> app.a"), 2)
    git(root, "commit", "-q", "--allow-empty", "-m", "another", day=3)
    rewritten = allow("app.a -> app.b", "app.b -> app.a").replace('app.a" = {}', "app.a\" = { ticket = 'T' }")
    three = commit(root, rewritten, 4)
    four = commit(root, f'{rewritten}\n[allow.gone]\n"docs/how to.md -> app.a" = {{}}\n', 5)
    write(root, {PATH: (root / PATH).read_text() + '"app.lost:f -> app.a" = {}\n'})
    debt = measure(root)
    assert (debt.path, debt.contracts, debt.owners, debt.notes) == (
        PATH,
        ("ab", "none", "gone"),
        "CODEOWNERS",
        (),
    )
    assert [(item.entry.key, item.file, item.owners, item.since, item.commit) for item in debt.items] == [
        ("app.a -> app.b", "app/a.py", ("@a", "@x"), "2026-01-02T01:30:00+00:00", one),
        ("app.b -> app.a", "app/b/__init__.py", (), "2026-01-05T01:30:00+00:00", three),
        ("docs/how to.md -> app.a", "docs/how to.md", ("@all",), "2026-01-06T01:30:00+00:00", four),
        ("app.lost:f -> app.a", "", (), "", ""),
    ]
    assert numbers(debt) == [
        (one, "2026-01-02T01:30:00+00:00", 3),
        (two, "2026-01-03T01:30:00+00:00", 2),
        (three, "2026-01-05T01:30:00+00:00", 2),
        (four, "2026-01-06T01:30:00+00:00", 3),
    ]
    assert numbers(measure(root, last=2)) == numbers(debt)[2:]
    done = run(root, "debt", "--last", "3")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == (
        f"4 allowances in {PATH}\n\n"
        "  allowances  oldest      contract  owners\n"
        "           2  2026-01-02  ab        @a 1, @x 1, no owner 1\n"
        "           2  2026-01-06  gone      @all 1, no owner 1\n\n"
        "The oldest:\n"
        "  2026-01-02  app.a -> app.b  [ab]  @a, @x\n"
        "  2026-01-05  app.b -> app.a  [ab]  no owner\n"
        "  2026-01-06  docs/how to.md -> app.a  [gone]  @all\n"
        "  -           app.lost:f -> app.a  [gone]  no owner\n\n"
        "After the last 3 commits that changed the file:\n"
        f"  2026-01-03  {two[:7]}  2  {'█' * 26}▋\n"
        f"  2026-01-05  {three[:7]}  2  {'█' * 26}▋\n"
        f"  2026-01-06  {four[:7]}  3  {'█' * 40}\n"
    )


def test_a_merge_is_one_change(root: Path) -> None:
    keys = [f"app.a -> app.x{number}" for number in range(6)]
    one = commit(root, allow(*keys), 1)
    git(root, "checkout", "-q", "-b", "side")
    side = commit(root, allow(*keys[1:]), 2)
    git(root, "checkout", "-q", "main")
    two = commit(root, allow(*keys[:-2]), 3)
    git(root, "merge", "-q", "-m", "m", "side", day=4)
    debt = measure(root)
    merge = git(root, "rev-parse", "HEAD")
    assert [(each, number) for each, _, number in numbers(debt)] == [(one, 6), (two, 4), (merge, 3)]
    assert side not in {change.commit for change in debt.history}


def test_a_file_that_was_gone_and_one_that_was_no_allowance_file(root: Path) -> None:
    commit(root, allow("app.a -> app.b"), 1)
    git(root, "rm", "-q", PATH)
    git(root, "commit", "-qm", "gone", day=2)
    commit(root, "<<<<<<< ours\n", 3)
    write(root, {PATH: allow("app.a -> app.b")})
    debt = measure(root)
    assert [change.allowances for change in debt.history] == [1, 0, None]
    assert [item.since for item in debt.items] == [""]
    assert to_text(debt).splitlines()[-1].endswith("  ?")


def test_no_file_an_empty_one_and_one_that_is_not_committed(root: Path) -> None:
    assert measure(root).notes == (f"there is no '{PATH}', so nothing is allowed.",)
    assert to_text(measure(root)) == f"0 allowances in {PATH}\n"
    write(root, {PATH: "version = 1\n"})
    note = f"'{PATH}' is not committed yet: nothing is known of its past."
    assert (measure(root).notes, measure(root).items) == ((note,), ())
    git(root, "add", "layerguard.toml")
    git(root, "commit", "-qm", "x")
    write(root, {PATH: allow("app.a -> app.b")})
    debt = measure(root)
    assert (debt.notes, dates(debt), debt.history) == ((note,), [("app.a -> app.b", "", "")], ())


def test_outside_git(tmp_path: Path) -> None:
    write(tmp_path, {"layerguard.toml": AB, PATH: allow("app.a -> app.b"), "app/a.py": "", "app/b.py": ""})
    debt = measure(tmp_path)
    assert (debt.notes, dates(debt), debt.history) == ((AWAY, NOBODY), [("app.a -> app.b", "", "")], ())
    write(tmp_path, {"CODEOWNERS": "app/ @app\n"})
    done = run(tmp_path, "debt")
    assert (done.returncode, done.stderr) == (0, f"note: {AWAY}\n".encode())
    assert b"app.a -> app.b  [ab]  @app\n" in done.stdout


def test_without_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(root, allow("app.a -> app.b"), 1)
    monkeypatch.setenv("PATH", "")
    assert measure(root).notes[0] == "git is not installed: nothing is known of the past."


def test_a_shallow_clone_a_submodule_and_a_work_tree(root: Path, tmp_path: Path) -> None:
    commit(root, allow("app.a -> app.b", "app.b -> app.a"), 1)
    two = commit(root, allow("app.a -> app.b"), 2)
    git(tmp_path, "clone", "-q", "--depth=1", (tmp_path / "top").as_uri(), "shallow")
    debt = measure(tmp_path / "shallow" / root.name)
    assert dates(debt) == [("app.a -> app.b", "2026-01-03", two)]
    assert debt.notes == (
        "the checkout has only a part of its history: dates and numbers from before are not known.",
    )
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    expected = measure(root)
    assert measure(tmp_path / "tree" / root.name) == expected
    outer = write(tmp_path / "outer", {"layerguard.toml": f'allowances = "m/{root.name}/{PATH}"\n{AB}'})
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", (tmp_path / "top").as_uri(), "m")
    assert (measure(outer).history, len(measure(outer).items)) == (expected.history, 1)
    assert measure(outer / "m" / root.name) == expected


def test_a_repository_that_git_refuses(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(root, allow("app.a -> app.b"), 1)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="detected dubious ownership"):
        measure(root)


def test_nothing_of_the_repository_is_run(root: Path, tmp_path: Path) -> None:
    one = commit(root, allow("app.a -> app.b"), 1)
    write(tmp_path / "top", {".gitattributes": "*.toml diff=x filter=x merge=x\n"})
    program = write(tmp_path, {"program": f"#!/bin/sh\ntouch '{tmp_path}/ran'\ncat\n"}) / "program"
    program.chmod(0o755)
    keys = ("diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge", "core.fsmonitor")
    for key in (*keys, "core.pager", "gpg.program", "diff.external", "merge.x.driver"):
        git(root, "config", key, str(program))
    for key, value in (("log.showSignature", "true"), ("log.follow", "true"), ("color.ui", "always")):
        git(root, "config", key, value)
    debt = measure(root)
    assert not (tmp_path / "ran").exists()
    assert dates(debt) == [("app.a -> app.b", "2026-01-02", one)]
    assert [change.allowances for change in debt.history] == [1]


def test_what_git_blame_refuses_is_told(root: Path) -> None:
    commit(root, allow("app.a -> app.b"), 1)
    git(root, "config", "blame.ignoreRevsFile", "missing")
    with pytest.raises(UserError) as caught:
        measure(root)
    assert caught.value.message == (
        "git cannot tell when the lines of 'allowances.toml' were written: "
        "fatal: could not open object name list: missing"
    )


def schema() -> dict[str, Any]:
    text = (files("layerguard") / "schemas" / "debt.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def test_json_obeys_its_schema_and_has_every_key_in_order(root: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    first = commit(root, allow("app.a -> app.b", "app.lost -> app.b"), 1)
    text = allow("app.a -> app.b").replace("{}", "{ reason = 'r', ticket = 'T', review-by = 2027-01-31 }")
    commit(root, text, 2)
    done = run(root, "debt", "--output-format", "json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema(), jsonschema.Draft202012Validator)
    assert list(document) == list(schema()["properties"]) == schema()["required"]
    assert (document["version"], document["allowances"], document["codeowners"]) == (1, 1, "CODEOWNERS")
    assert document["contracts"] == [
        {
            "id": "ab",
            "allowances": 1,
            "oldest": "2026-01-03T01:30:00+00:00",
            "owners": [{"owner": "@a", "allowances": 1}, {"owner": "@x", "allowances": 1}],
        },
        {"id": "none", "allowances": 0, "oldest": None, "owners": []},
    ]
    assert document["entries"][0]["review_by"] == "2027-01-31"
    assert document["history"][0] == {"commit": first, "date": "2026-01-02T01:30:00+00:00", "allowances": 2}
    defined = schema()["$defs"]
    for name, example in (
        ("contract", document["contracts"][0]),
        ("owner", document["contracts"][0]["owners"][0]),
        ("entry", document["entries"][0]),
        ("change", document["history"][0]),
    ):
        assert list(example) == list(defined[name]["properties"]) == defined[name]["required"]
    shutil.rmtree(root.parent / ".git")
    (root.parent / "CODEOWNERS").unlink()
    jsonschema.validate(json.loads(to_json(measure(root))), schema(), jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"more": 1}, schema(), jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("width", "bars"),
    [
        (80, ["█" * 40, "▏", "█" * 39 + "▋", "", ""]),
        (40, ["█" * 11, "▏", "█" * 10 + "▉", "", ""]),
        (5, ["█", "▏", "▉", "", ""]),
    ],
)
def test_the_bars_keep_within_the_width(width: int, bars: list[str]) -> None:
    history = tuple(
        Change("c" * 40, "2026-01-01T00:00:00+00:00", number) for number in (1000, 1, 992, 0, None)
    )
    lines = to_text(Debt(PATH, (), (), "", history, ()), width).splitlines()[3:]
    assert [line[27:].strip() for line in lines] == bars
    assert all(len(line) <= max(width, 30) for line in lines)


def test_what_could_drive_a_terminal_is_made_visible(root: Path) -> None:
    commit(root, allow("app.a -> app.b").replace('"app.a ->', '"app.\\u001b[31m ->'), 1)
    assert "app.␛[31m -> app.b" in to_text(measure(root))
