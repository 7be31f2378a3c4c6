from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from projects import BROKEN, UNCHECKED, allow, write

import layerguard
import layerguard.errors
import layerguard.model
import layerguard.run
from layerguard import Report, UserError, Violation, check
from layerguard.model import ContractResult, Location, Summary

HEAVY = {"ast_serialize", "click", "grimp", "importlinter", "msgspec", "multiprocessing", "pathspec", "tomli"}


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded once it has run this."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    return set(done.stdout.split())


def test_a_project_can_test_itself(tmp_path: Path) -> None:
    write(tmp_path, BROKEN)
    report = check(tmp_path)
    assert isinstance(report, Report)
    assert report.failed
    assert report.contracts == (ContractResult("ab", "independence", kept=False, violations=1, allowed=0),)
    assert report.summary == Summary(
        files=3,
        analysed=3,
        modules=3,
        imports=2,
        contracts=1,
        kept=0,
        broken=1,
        violations=1,
        allowed=0,
        stale=0,
    )
    assert report.notes == (UNCHECKED,)
    [violation] = report.violations
    assert violation == Violation(
        code="LG103",
        message="app.a imports app.b",
        location=Location("app/a.py", 3, 8, 3, 13),
        contract="ab",
        importer="app.a",
        imported="app.b",
        via="import",
        when="load",
        chain=violation.chain,
        sources=violation.sources,
        because="They are sold apart.",
        hint="Ask app.base.",
        key="app.a -> app.b",
        excerpt="import app.b",
        fingerprint=violation.fingerprint,
    )


def test_the_folder_of_the_process_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, BROKEN)
    monkeypatch.chdir(tmp_path / "app")
    assert [violation.location.path for violation in check().violations] == ["app/a.py"]


def test_options(tmp_path: Path) -> None:
    write(tmp_path, BROKEN | {"contracts/allowances.toml": allow("app.a -> app.b")})
    assert check(str(tmp_path)).violations == ()
    assert [violation.allowed for violation in check(tmp_path, show_allowed=True).violations] == [True]
    assert check(tmp_path, paths=["app/b.py"], contracts=["ab"], show_allowed=True).violations == ()
    seen: list[tuple[int, int]] = []
    check(tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (3, 3)]


def test_mistakes_are_user_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        check(tmp_path / "gone")
    assert caught.value.message == f"'{tmp_path / 'gone'}': there is no such folder."
    assert str(caught.value) == caught.value.message


def test_public_names() -> None:
    assert layerguard.__all__ == ["Report", "UserError", "Violation", "__version__", "check"]
    assert layerguard.check is layerguard.run.check
    assert layerguard.Report is layerguard.model.Report
    assert layerguard.Violation is layerguard.model.Violation
    assert layerguard.UserError is layerguard.errors.UserError
    assert not hasattr(layerguard, "chekc")
    with pytest.raises(AttributeError, match=r"^module 'layerguard' has no attribute 'chekc'$"):
        layerguard.__getattr__("chekc")


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_by("import layerguard")
    assert {name for name in loaded if name.startswith("layerguard")} == {"layerguard"}
    assert not loaded & HEAVY


def test_a_name_loads_what_it_needs() -> None:
    assert "msgspec" not in loaded_by("from layerguard import UserError")
    assert "msgspec" in loaded_by("from layerguard import check")


def test_the_command_line_starts_light() -> None:
    loaded = loaded_by("import layerguard.cli")
    assert not loaded & (HEAVY - {"click"})
    started = {name for name in loaded if name.startswith("layerguard")}
    assert started == {
        "layerguard",
        "layerguard.asked",
        "layerguard.cli",
        "layerguard.errors",
        "layerguard.surroundings",
        "layerguard.terminal",
    }


def test_grimp_is_left_alone_by_contracts_that_ask_for_no_chain(tmp_path: Path) -> None:
    write(tmp_path, BROKEN)
    loaded = loaded_by(f"from layerguard import check\nassert check({str(tmp_path)!r}).failed")
    assert not loaded & {"grimp", "importlinter", "click"}
