"""The table of docs/ratchet.md: each way to get an allowance in, and what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, WORDS, Repo, grown, start, told
from projects import AB, allow, run

from layerguard.errors import UserError
from layerguard.ratchet import adopt, ratchet

OLD, NEW = "app.a.m -> app.b.x", "app.a.m -> app.b.y"
TWO = {"app/a/m.py": f"import app.b.x\nimport app.b.y\n\n{WORDS}\n"}
TABLE = '[[contract]]\nid = "old"\nkind = "removed"\nmodules = { "app.b.x" = "app.b.y" }\n'
PAGE = Path(__file__).parent.parent / "docs/ratchet.md"


def rows() -> list[str]:
    """The names of the tests that the rows of the table ask for, from the words in bold."""
    titles = re.findall(r"^\| \*\*(.+?)\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return ["test_" + re.sub(r"\W+", "_", title.lower()).strip("_") for title in titles]


def test_every_row_of_the_table_has_its_test_and_every_test_its_row() -> None:
    names = rows()
    tests = {name for name in globals() if name.startswith("test_")} - {
        "test_every_row_of_the_table_has_its_test_and_every_test_its_row"
    }
    assert len(names) >= 20
    assert len(set(names)) == len(names)
    assert set(names) == tests


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A project with one allowed violation on `main`, and the branch `work`."""
    return start(tmp_path / "project").branch("work")


def refused(repo: Repo, base: str | None = "main") -> str:
    """The error, with its hint, that a check ends with."""
    with pytest.raises(UserError) as caught:
        repo.check(base)
    return f"{caught.value.message} {caught.value.hint}"


def test_same_commit(repo: Repo) -> None:
    repo.write(TWO).allow(OLD, NEW)
    repo.commit()
    assert told(repo.check("main")) == [f"{ALLOWANCES}:5: LG202"]


def test_swap(repo: Repo) -> None:
    repo.write({"app/a/m.py": f"import app.b.y\n\n{WORDS}\n"}).allow(NEW).commit()
    assert grown(repo.check("main")) == [NEW]


def test_small_steps(repo: Repo) -> None:
    repo.write(TWO).commit()
    repo.allow(OLD, NEW).commit()
    repo.commit(message="one more, so that HEAD has nothing new")
    assert repo.check("HEAD").violations == ()
    assert grown(repo.check("main")) == [NEW]


def test_merge_of_main(repo: Repo) -> None:
    fixed = {"app/a/m.py": f"{WORDS}\n", ALLOWANCES: "version = 1\n"}
    repo.switch("main").commit(fixed)
    repo.switch("work").merge("main")
    repo.commit({path: PLAIN[path] for path in fixed}, "as it was before main mended it")
    assert grown(repo.check("main")) == [OLD]


def test_merge_the_other_way_round(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(TWO).allow(OLD, NEW).commit()
    repo.branch("side", "main").commit(message="side")
    repo.switch("work").merge("side")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")
    monkeypatch.setenv("GITHUB_SHA", repo.git("rev-parse", "main"))
    assert grown(repo.check()) == [NEW]


def test_merges_both_ways(repo: Repo) -> None:
    """Two merge bases; one of them still has the entry that the other removed."""
    repo.commit({"app/a/m.py": f"{WORDS}\n", ALLOWANCES: "version = 1\n"}, "mended")
    mended = repo.head
    repo.switch("main").commit({"README": "x\n"}, "more")
    more = repo.head
    repo.merge(mended)
    repo.switch("work").merge(more)
    repo.commit({"app/a/m.py": PLAIN["app/a/m.py"], ALLOWANCES: PLAIN[ALLOWANCES]}, "as it was")
    assert len(repo.git("merge-base", "--all", "main", "work").split()) == 2
    assert grown(repo.check("main")) == [OLD]


def test_another_history(repo: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write(TWO).allow(OLD, NEW).commit()
    assert "the base main (--base) and HEAD have no common history." in refused(repo)


def test_regenerated_file(repo: Repo) -> None:
    repo.write(TWO | {"app/b/y.py": "import app.a\n"}).allow(OLD, NEW, "app.b.y -> app.a").commit()
    assert grown(repo.check("main")) == [NEW, "app.b.y -> app.a"]


def test_union_merge(repo: Repo) -> None:
    repo.commit({".gitattributes": f"{ALLOWANCES} merge=union\n", ALLOWANCES: allow(OLD, "z -> y")})
    repo.branch("side", "main").commit({ALLOWANCES: allow(OLD).replace(" = {}", ' = { reason = "r" }')})
    repo.switch("work").allow("a -> b", OLD).commit()
    repo.merge("side")
    assert repo.text().count(f'"{OLD}"') == 2
    assert f"{ALLOWANCES}:" in refused(repo)


def test_merge_markers(repo: Repo) -> None:
    repo.write({ALLOWANCES: f"<<<<<<< ours\n{allow(OLD)}=======\n>>>>>>> theirs\n"}).commit()
    assert f"{ALLOWANCES}:" in refused(repo)


def test_deleted_file(repo: Repo) -> None:
    repo.commit({ALLOWANCES: None})
    assert told(repo.check("main")) == ["app/a/m.py:1: LG103"]


def test_moved_file(repo: Repo) -> None:
    settings = {
        "layerguard.toml": f'allowances = "kept.toml"\n{AB}',
        ALLOWANCES: None,
        "kept.toml": allow(OLD, NEW),
    }
    repo.write(TWO).commit(settings)
    assert told(repo.check("main")) == ["kept.toml:5: LG202"]


def test_unnamed_file(tmp_path: Path) -> None:
    named = {"layerguard.toml": f'allowances = "kept.toml"\n{AB}', "kept.toml": allow(OLD)}
    repo = start(tmp_path, {path: PLAIN[path] for path in PLAIN if path != ALLOWANCES} | named).branch("work")
    repo.write(TWO | {"layerguard.toml": AB, "kept.toml": None}).allow(OLD, NEW).commit()
    assert told(repo.check("main")) == [f"{ALLOWANCES}:5: LG202"]


def test_ignored_file(repo: Repo) -> None:
    settings = {"layerguard.toml": f'allowances = "own.toml"\n{AB}', ".gitignore": "own.toml\n"}
    repo.write(TWO | settings | {ALLOWANCES: None}).commit()
    repo.write({"own.toml": allow(OLD, NEW)})
    assert told(repo.check("main")) == ["own.toml:5: LG202"]


def test_file_at_the_base_of_two_names(tmp_path: Path) -> None:
    """The base's `layerguard.toml` counts, not a `pyproject.toml` that the branch writes."""
    repo = start(tmp_path).branch("work")
    table = AB.replace("[[contract]]", "[[tool.layerguard.contract]]")
    repo.write(TWO | {"layerguard.toml": None, "pyproject.toml": table}).allow(OLD, NEW).commit()
    assert grown(repo.check("main")) == [NEW]


def test_contract_file_renamed(tmp_path: Path) -> None:
    repo = start(tmp_path, PLAIN | {"layerguard.toml": "", "contracts/one.toml": AB}).branch("work")
    repo.write(TWO | {"contracts/one.toml": None, "contracts/two.toml": AB}).allow(OLD, NEW).commit()
    report = repo.check("main")
    assert (grown(report), report.weakened) == ([NEW], ())


def test_contract_renamed(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": AB.replace('"ab"', '"ba"')}).allow(OLD, NEW, contract="ba").commit()
    report = repo.check("main")
    assert grown(report) == [NEW]
    assert report.weakened == ("the contract 'ab' is gone.",)


def test_second_contract_for_the_same(repo: Repo) -> None:
    second = AB + AB.replace('"ab"', '"more"')
    entries = allow(OLD) + allow(OLD, NEW, contract="more").removeprefix("version = 1\n")
    repo.write(TWO | {"layerguard.toml": second, ALLOWANCES: entries}).commit()
    assert told(repo.check("main")) == ["app/a/m.py:2: LG103", f"{ALLOWANCES}:8: LG202"]


def test_contract_reworded(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": AB.replace("sold apart", "legacy")}).allow(OLD, NEW).commit()
    assert grown(repo.check("main")) == [NEW]


def test_contract_of_another_kind(repo: Repo) -> None:
    other = '[[contract]]\nid = "ab"\nkind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b"]\n'
    repo.write(TWO | {"layerguard.toml": other}).allow(OLD, NEW).commit()
    report = repo.check("main")
    assert grown(report) == [NEW]
    assert report.weakened == ("the contract 'ab' was of kind 'independence' and is of kind 'forbidden'.",)


def test_contract_deleted(repo: Repo) -> None:
    other = '[[contract]]\nid = "other"\nkind = "forbidden"\nsources = ["app"]\ntargets = ["pickle"]\n'
    repo.write(TWO | {"layerguard.toml": other}).commit()
    report = repo.check("main")
    assert told(report) == [f"{ALLOWANCES}:4: LG203"]
    assert report.weakened == ("the contract 'ab' is gone.",)


def test_pattern_widened(repo: Repo) -> None:
    wider = AB.replace('"app.b"]', '"app.b", "app.c"]')
    repo.switch("main").commit({"app/c.py": "import app.b.x\n"})
    repo.branch("wider").write({"layerguard.toml": wider}).commit()
    assert told(repo.check("main")) == ["app/c.py:1: LG103"]
    repo.allow(OLD, "app.c -> app.b.x").commit()
    assert grown(repo.check("main")) == ["app.c -> app.b.x"]


def test_pattern_narrowed(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": AB.replace('"app.b"]', '"app.b", "!app.b.y"]')}).commit()
    report = repo.check("main")
    assert report.weakened == ("the contract 'ab' looks at less: 'modules' has '!app.b.y' now.",)
    assert run(repo.root, "check", "--base", "main", "--strict-contracts").returncode == 1


def test_importers_excluded(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": f'{AB}exclude-importers = ["app.a.m"]\n'}).commit()
    report = repo.check("main")
    assert told(report) == [f"{ALLOWANCES}:4: LG201"]
    assert report.weakened == ("the contract 'ab' leaves out more: 'exclude-importers' has 'app.a.m' now.",)


def test_severity_lowered(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": f'{AB}severity = "warning"\n'}).allow(OLD, NEW).commit()
    report = repo.check("main")
    assert (grown(report), report.failed) == ([NEW], True)
    assert report.weakened == ("the contract 'ab' has severity = 'warning' now.",)
    repo.allow(OLD).commit()
    assert not repo.check("main").failed
    assert run(repo.root, "check", "--base", "main", "--strict-contracts").returncode == 1


def test_frozen_lifted(tmp_path: Path) -> None:
    files = PLAIN | {"layerguard.toml": f"{AB}frozen = true\n", "app/a/m.py": "", ALLOWANCES: "version = 1\n"}
    repo = start(tmp_path, files).branch("work")
    repo.write({"layerguard.toml": AB, "app/a/m.py": "import app.b.x\n"}).allow(OLD).commit()
    report = repo.check("main")
    assert grown(report) == [OLD]
    assert report.weakened == ("the contract 'ab' has frozen = false now.",)


def test_folder_excluded(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": f'exclude = ["app/a/m.py"]\n{AB}'}).commit()
    report = repo.check("main")
    assert told(report) == [f"{ALLOWANCES}:4: LG201"]
    assert report.weakened == ("less is analysed: 'exclude' is not what it was; see 'app/a/m.py'.",)
    assert run(repo.root, "check", "--base", "main", "--strict-contracts").returncode == 1


def test_base_setting_edited(tmp_path: Path) -> None:
    settings = {"layerguard.toml": f'base = "origin/main"\n{AB}'}
    repo = start(tmp_path / "one", PLAIN | settings).clone(tmp_path / "two").branch("work")
    repo.write(TWO | {"layerguard.toml": f'base = "HEAD"\n{AB}'}).allow(OLD, NEW).commit()
    report = repo.check()
    assert grown(report) == [NEW]
    assert report.notes == (
        "'base' is 'origin/main' as in the configuration at origin/HEAD, where it is not 'HEAD' as here.",
    )


def test_base_setting_deleted(tmp_path: Path) -> None:
    settings = {"layerguard.toml": f'base = "origin/main"\n{AB}'}
    repo = start(tmp_path / "one", PLAIN | settings).clone(tmp_path / "two").branch("work")
    repo.write(TWO | {"layerguard.toml": AB}).allow(OLD, NEW).commit()
    report = repo.check()
    assert grown(report) == [NEW]
    assert report.notes == (
        "'base' is 'origin/main' as in the configuration at origin/HEAD, and this one has none.",
    )


def test_ci_variable_unset(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(TWO).allow(OLD, NEW).commit()
    monkeypatch.setenv("CI", "true")
    assert repo.check().notes == (
        "nothing names a base here, so only what is not committed was checked for growth: see --base.",
    )


def test_shallow_clone(repo: Repo, tmp_path: Path) -> None:
    repo.write(TWO).allow(OLD, NEW).commit()
    clone = repo.clone(tmp_path / "clone", "--depth=1", "--branch=work")
    assert "Run: git fetch --no-tags --unshallow origin" in refused(clone, "origin/main")


def test_partial_clone(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.write(TWO).allow(OLD, NEW).commit()
    clone = repo.clone(tmp_path / "clone", "--filter=tree:0", "--branch=work")
    assert "run: git fetch --refetch --no-filter origin" in refused(clone, "origin/main")
    clone.git("fetch", "-q", "--refetch", "--no-filter", "origin")
    assert grown(clone.check("origin/main")) == [NEW]


def test_scope_of_another_function(tmp_path: Path) -> None:
    code = "def f():\n    import app.b.x\n\n\ndef g():\n    pass\n"
    repo = start(tmp_path, PLAIN | {"app/a/m.py": code, ALLOWANCES: allow("app.a.m:f -> app.b.x")}).branch(
        "work"
    )
    moved = "def f():\n    pass\n\n\ndef g():\n    import app.b.x\n"
    repo.write({"app/a/m.py": moved}).allow("app.a.m:g -> app.b.x").commit()
    assert grown(repo.check("main")) == ["app.a.m:g -> app.b.x"]
    repo.write({"app/a/m.py": "def g():\n    import app.b.x\n"}).commit()
    assert grown(repo.check("main")) == ["app.a.m:g -> app.b.x"]


def test_two_functions_for_one(tmp_path: Path) -> None:
    code = "def f():\n    import app.b.x\n"
    repo = start(tmp_path, PLAIN | {"app/a/m.py": code, ALLOWANCES: allow("app.a.m:f -> app.b.x")}).branch(
        "work"
    )
    keys = ("app.a.m:g -> app.b.x", "app.a.m:h -> app.b.x")
    repo.write({"app/a/m.py": code.replace("f", "g") + code.replace("f", "h")}).allow(*keys).commit()
    assert grown(repo.check("main")) == list(keys)


def test_typing_entry_for_a_real_import(tmp_path: Path) -> None:
    code = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import app.b.x\n"
    files = PLAIN | {"app/a/m.py": code, ALLOWANCES: allow(f"{OLD} (typing)")}
    repo = start(tmp_path, files).branch("work")
    assert repo.check("main").violations == ()
    repo.write({"app/a/m.py": "import app.b.x\n"}).commit()
    assert told(repo.check("main")) == ["app/a/m.py:1: LG103", f"{ALLOWANCES}:4: LG201"]


def test_string_entry_for_a_real_import(tmp_path: Path) -> None:
    files = PLAIN | {
        "layerguard.toml": f'{AB}via = ["import", "string"]\n',
        "app/a/m.py": 'NAME = "app.b.x"\n',
        ALLOWANCES: allow(f"{OLD} (string)"),
    }
    repo = start(tmp_path, files).branch("work")
    assert repo.check("main").violations == ()
    repo.write({"app/a/m.py": "import app.b.x\n"}).allow(OLD).commit()
    assert grown(repo.check("main")) == [OLD]


def test_fake_table_of_moves(repo: Repo) -> None:
    repo.write({"app/a/m.py": f"import app.b.y\n\n{WORDS}\n", "layerguard.toml": AB + TABLE}).allow(
        NEW
    ).commit()
    assert told(repo.check("main")) == ["app/b/x.py:1: LG302", f"{ALLOWANCES}:4: LG202"]


def test_fake_table_that_only_warns(repo: Repo) -> None:
    table = f'{TABLE}severity = "warning"\n'
    repo.write({"app/a/m.py": f"import app.b.y\n\n{WORDS}\n", "layerguard.toml": AB + table}).allow(
        NEW
    ).commit()
    report = repo.check("main")
    assert (grown(report), report.failed) == ([NEW], True)


def test_rename_with_a_new_violation(repo: Repo) -> None:
    repo.git("mv", "app/a/m.py", "app/a/n.py")
    repo.write({"app/a/n.py": TWO["app/a/m.py"]})
    repo.allow("app.a.n -> app.b.x", "app.a.n -> app.b.y").commit()
    assert grown(repo.check("main")) == ["app.a.n -> app.b.y"]


def test_copy_for_a_rename(repo: Repo) -> None:
    repo.git("mv", "app/a/m.py", "app/a/n.py")
    repo.write({"app/a/o.py": PLAIN["app/a/m.py"]})
    repo.allow("app.a.n -> app.b.x", "app.a.o -> app.b.x").commit()
    assert len(grown(repo.check("main"))) == 1
    repo.write({"app/a/m.py": PLAIN["app/a/m.py"]}).commit()
    assert grown(repo.check("main")) == ["app.a.n -> app.b.x", "app.a.o -> app.b.x"]


def test_file_that_cannot_be_parsed(repo: Repo) -> None:
    repo.write({"app/a/m.py": "def f(:\n"}).commit()
    assert told(repo.check("main")) == ["app/a/m.py:1: LG401"]
    assert (ratchet(repo.root, base="main").removed, repo.text()) == (0, PLAIN[ALLOWANCES])


def test_other_spelling(repo: Repo) -> None:
    for key in ("app.a.m  -> app.b.x", " app.a.m -> app.b.x", "app.a.m -> app.b.x ", "app.a.m->app.b.x"):
        assert "is no allowance" in refused(repo.allow(OLD, key)), key
    for key in (r"app.a.m -> app.b.\u0078", r"\u0061pp.a.m -> app.b.x"):
        assert f"{ALLOWANCES}:" in refused(repo.allow(OLD, key)), key
    assert told(repo.allow(OLD, "App.a.m -> app.b.x").check("main")) == [
        f"{ALLOWANCES}:5: LG201",
        f"{ALLOWANCES}:5: LG202",
    ]


def test_wildcard(repo: Repo) -> None:
    for key in ("app.a.* -> app.b.x", "app.a.m -> app.b.*", "app.a.m -> *"):
        assert "holds a wildcard" in refused(repo.allow(key)), key


def test_other_version(repo: Repo) -> None:
    repo.write({ALLOWANCES: allow(OLD).replace("version = 1", "version = 2")}).commit()
    assert "has the version '2'" in refused(repo)


def test_unknown_contract(repo: Repo) -> None:
    repo.write(TWO).allow(OLD, NEW, contract="abc").commit()
    assert [line for line in told(repo.check("main")) if ALLOWANCES in line] == [
        f"{ALLOWANCES}:4: LG203",
        f"{ALLOWANCES}:5: LG203",
    ]


def test_adopt_for_an_old_contract(repo: Repo) -> None:
    repo.write(TWO).commit()
    with pytest.raises(UserError, match="so it takes no more allowances"):
        adopt("ab", repo.root, base="main")
    assert repo.text() == PLAIN[ALLOWANCES]


def test_adopt_after_the_violation(repo: Repo) -> None:
    repo.write(TWO | {"layerguard.toml": AB + AB.replace('"ab"', '"more"')}).commit()
    assert str(adopt("more", repo.root, base="main")) == (
        "adopted 1; 1 did not stand in the base's code and stays a violation"
    )
    assert told(repo.check("main")) == ["app/a/m.py:2: LG103", "app/a/m.py:2: LG103"]
