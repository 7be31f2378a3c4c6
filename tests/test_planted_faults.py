"""A clean project with a contract of each kind: every import that breaks one is found, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from layerguard import check

if TYPE_CHECKING:
    from pathlib import Path

_CONFIGURATION = """
[[contract]]
id = "layers"
kind = "layers"
layers = ["app.high", "app.low"]

[[contract]]
id = "forbidden"
kind = "forbidden"
sources = ["app.source"]
targets = ["app.target"]

[[contract]]
id = "independence"
kind = "independence"
modules = ["app.one", "app.two"]

[[contract]]
id = "protected"
kind = "protected"
modules = ["app.guarded"]
importers = ["app.keeper"]

[[contract]]
id = "acyclic"
kind = "acyclic"
packages = ["app.ring"]

[[contract]]
id = "private"
kind = "private"
packages = ["app.owner"]

[[contract]]
id = "existing"
kind = "existing"
packages = ["app.there"]

[[contract]]
id = "removed"
kind = "removed"
modules = { "app.old" = "app.new" }
"""

_FILES = {
    "app/__init__.py": "",
    "app/high/__init__.py": "from app.low import part\n",
    "app/high/part.py": "thing = 1\n",
    "app/low/__init__.py": "",
    "app/low/part.py": "",
    "app/source/__init__.py": "",
    "app/source/m.py": "",
    "app/target/__init__.py": "",
    "app/target/part.py": "thing = 1\n",
    "app/one/__init__.py": "",
    "app/one/m.py": "",
    "app/two/__init__.py": "",
    "app/two/part.py": "thing = 1\n",
    "app/guarded/__init__.py": "",
    "app/guarded/part.py": "thing = 1\n",
    "app/keeper.py": "from app.guarded import part\n",
    "app/ring/__init__.py": "",
    "app/ring/first.py": "",
    "app/ring/second/__init__.py": "import app.ring.first\n",
    "app/ring/second/part.py": "thing = 1\n",
    "app/owner/__init__.py": "from app.owner._hidden import part\n",
    "app/owner/_hidden/__init__.py": "",
    "app/owner/_hidden/part.py": "thing = 1\n",
    "app/there/__init__.py": "",
    "app/there/here.py": "",
    "app/new/__init__.py": "",
    "app/new/part.py": "thing = 1\n",
    "app/user/__init__.py": "",
    "app/user/m.py": "",
}


class Fault(NamedTuple):
    """A contract, its code, the file that gets the import, and the package below `app` that it names."""

    contract: str
    code: str
    path: str
    package: str


_FAULTS = (
    Fault("layers", "LG101", "app/low/part.py", "high"),
    Fault("forbidden", "LG102", "app/source/m.py", "target"),
    Fault("independence", "LG103", "app/one/m.py", "two"),
    Fault("protected", "LG104", "app/user/m.py", "guarded"),
    Fault("acyclic", "LG105", "app/ring/first.py", "ring.second"),
    Fault("private", "LG106", "app/user/m.py", "owner._hidden"),
    Fault("removed", "LG107", "app/user/m.py", "old"),
    Fault("existing", "LG108", "app/user/m.py", "there.gone"),
)


class Form(NamedTuple):
    """A way to import. `@` stands before the place that must be told, `P` for the package's name.

    `R` is the same, relative; `A` and `Z` are the names before and after its last dot.
    """

    text: str
    when: str = "load"
    via: str = "import"
    scope: str = ""


_FORMS = {
    "import": Form("import @P.part\n"),
    "import-of-the-package": Form("import @P\n"),
    "from-import-of-a-module": Form("from A import @Z\n"),
    "from-import-of-a-name": Form("from @P.part import thing\n"),
    "from-import-of-names-in-brackets": Form("from @P.part import (  # why\n    thing,\n    other,\n)\n"),
    "relative": Form("from @R.part import thing\n"),
    "relative-in-a-function": Form("def f():\n    from @R.part import thing\n", "deferred", scope="f"),
    "star": Form("from @P.part import *\n"),
    "aliased": Form("import os, @P.part as other\n"),
    "from-import-aliased": Form("from A import (\n    @Z as other,\n)\n"),
    "in-a-function": Form("def f():\n    x = 1\n\n    import @P.part\n", "deferred", scope="f"),
    "in-a-method": Form(
        "class C:\n    async def f(self):\n        import @P.part\n", "deferred", scope="C.f"
    ),
    "in-a-class": Form("class C:\n    import @P.part\n", scope="C"),
    "after-a-semicolon": Form("import os; import @P.part; x = 1\n"),
    "in-a-suite-on-one-line": Form("if True: import @P.part\n"),
    "in-a-function-on-one-line": Form("def f(): import @P.part\n", "deferred", scope="f"),
    "under-try": Form("try:\n    import @P.part\nfinally:\n    pass\n"),
    "under-except": Form("try:\n    pass\nexcept ImportError:\n    import @P.part\n"),
    "under-type-checking": Form(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import @P.part\n", "typing"
    ),
    "lazy": Form("lazy import @P.part\n", "deferred"),
    "lazy-from": Form("lazy from @P.part import thing\n", "deferred"),
    "over-two-lines": Form("from \\\n    @P.part import thing\n"),
    "behind-a-wide-string": Form("'é😀'; import @P.part\n"),
    "import-module": Form('import importlib\nimportlib.import_module(@"P.part")\n', via="dynamic"),
    "import-module-alias": Form(
        'from importlib import import_module as load\nload(@"P.part")\n', via="dynamic"
    ),
    "import-module-keyword": Form(
        'import importlib as il\nil.import_module(\n    package=None,\n    name=@"P.part",\n)\n',
        via="dynamic",
    ),
    "import-module-relative": Form(
        'from importlib import import_module\nimport_module(@".part", package="P")\n', via="dynamic"
    ),
    "import-module-from-the-own-package": Form(
        'from importlib import import_module\nimport_module(@"R.part", __package__)\n', via="dynamic"
    ),
    "dunder-import": Form('__import__(@"P.part")\n', via="dynamic"),
    "dunder-import-in-a-lambda": Form('f = lambda: __import__(@"P.part")\n', "deferred", via="dynamic"),
}


def _made(root: Path) -> None:
    (root / "layerguard.toml").write_text(_CONFIGURATION)
    for path, text in _FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def _written(form: Form, fault: Fault) -> tuple[str, int, int]:
    """Return the text to plant, with the line and column of what must be told."""
    package = f"app.{fault.package}"
    above, _, last = package.rpartition(".")
    depth = fault.path.count("/")
    text = form.text
    for letter, name in {"P": package, "R": "." * depth + fault.package, "A": above, "Z": last}.items():
        for before, after in (("@", ""), ("@", "."), ('"', '"'), ("from ", " ")):
            text = text.replace(f"{before}{letter}{after}", f"{before}{name}{after}")
        text = text.replace(f'"{letter}.', f'"{name}.')
    before = text[: text.index("@")]
    return text.replace("@", ""), before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    _made(root)
    return root


def test_the_project_is_clean(project: Path) -> None:
    report = check(project)
    assert report.violations == ()
    assert report.summary.kept == report.summary.contracts == len(_FAULTS)


@pytest.mark.parametrize("name", _FORMS)
@pytest.mark.parametrize("fault", _FAULTS, ids=[fault.contract for fault in _FAULTS])
def test_a_planted_import_is_found(fault: Fault, name: str, project: Path) -> None:
    form = _FORMS[name]
    text, line, column = _written(form, fault)
    file = project / fault.path
    file.write_text(text)
    try:
        report = check(project)
    finally:
        file.write_text(_FILES[fault.path])
    found = [
        (v.code, v.contract, v.location.path, v.location.line, v.location.column, v.when, v.via, v.scope)
        for v in report.violations
    ]
    expected = [(fault.code, fault.contract, fault.path, line, column, form.when, form.via, form.scope)]
    if name == "import-module-relative" and fault.contract in {"protected", "removed"}:
        # These count strings, and the package that is given is one.
        place = text.split("\n")[line - 1].index("package=") + 9
        expected.append((fault.code, fault.contract, fault.path, line, place, "load", "string", ""))
    assert found == expected, text
    assert report.violations[0].imported.startswith(f"app.{fault.package}")


def test_after_all_of_them_the_project_is_clean_again(project: Path) -> None:
    assert check(project).violations == ()
