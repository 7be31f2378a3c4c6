"""`layerguard test`: what is planted in memory is caught, and contracts that cannot fail are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from projects import run, write

from layerguard.config import load_config
from layerguard.contracts import KINDS
from layerguard.errors import UserError
from layerguard.planting import Garden, Site
from layerguard.planting.trial import try_contracts

if TYPE_CHECKING:
    from pathlib import Path

    from layerguard.model import Violation

FILES = {
    "app/__init__.py": "",
    "app/a/__init__.py": "",
    "app/a/m.py": "import os\nimport app.base\n",
    "app/a/_own.py": "",
    "app/b/__init__.py": "",
    "app/b/n.py": "x = 1",
    "app/base.py": "",
    "app/folder/script.py": "",
    "app/folder/helper.py": "",
    "main.py": "import app.a\n",
    "docs/use.md": "Nothing yet.\n",
}
INDEPENDENT = """\
[[contract]]
id = "apart"
kind = "independence"
modules = ["app.a", "app.b"]
"""


def _plant(module: str, code: str, *, caught: bool = True) -> str:
    return f"[[contract.plant]]\nin = '{module}'\ncode = '''\n{code}'''\n" + "caught = false\n" * (not caught)


def _violations(root: Path, contract: str, *sites: Site) -> list[Violation]:
    write(root, {"layerguard.toml": contract, **FILES})
    config = load_config(root)
    return Garden(config, config.contracts, None).violations(config.contracts[0], sites)


def _places(found: list[Violation]) -> list[tuple[str, int, int, str]]:
    return [(v.location.path, v.location.line, v.location.column, v.imported) for v in found]


@pytest.mark.parametrize(
    ("module", "code", "place"),
    [
        ("app.a.m", "import app.b", ("app/a/m.py", 3, 8, "app.b")),
        ("app.a.m", "\nfrom ..b import n\n", ("app/a/m.py", 4, 17, "app.b.n")),
        ("app.a", "from .b import x", None),
        ("app.a", "from ..b import x", ("app/a/__init__.py", 1, 6, "app.b")),
        ("app.a", "from .. import b", ("app/a/__init__.py", 1, 16, "app.b")),
        ("app.b.n", "import app.a.m", ("app/b/n.py", 2, 8, "app.a.m")),
        ("app.a.new", "from ..b import x", ("app/a/new.py", 1, 6, "app.b")),
        ("app.a.deep.new", "from app import b", ("app/a/deep/new.py", 1, 17, "app.b")),
        ("app.b.n.below", "import app.a", ("app/b/n/below.py", 1, 8, "app.a")),
        ("app.base", "import app.a", None),
        ("app.a.m", "def f():\n    '''import app.b'''", None),
    ],
)
def test_where_planted_code_stands(
    module: str, code: str, place: tuple[str, int, int, str] | None, tmp_path: Path
) -> None:
    found = _violations(tmp_path, INDEPENDENT, Site(module, code))
    assert _places(found) == ([place] if place else [])


def test_a_folder_gets_an_init(tmp_path: Path) -> None:
    contract = '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app.folder"]\ntargets = ["app.a"]\n'
    found = _violations(tmp_path, contract, Site("app.folder", "from ..a import m"))
    assert _places(found) == [("app/folder/__init__.py", 1, 17, "app.a.m")]


def test_a_new_script_knows_its_siblings(tmp_path: Path) -> None:
    contract = '[[contract]]\nid = "x"\nkind = "protected"\nmodules = ["app.folder.helper"]\nimporters = []\n'
    found = _violations(tmp_path, contract, Site("app.folder.new", "import helper"))
    assert _places(found) == [("app/folder/new.py", 1, 8, "app.folder.helper")]


def test_what_was_there_before_is_not_told(tmp_path: Path) -> None:
    contract = '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["main"]\ntargets = ["app"]\n'
    assert _violations(tmp_path, contract, Site("main", "import os")) == []
    found = _violations(tmp_path, contract, Site("main", "import app.b"))
    assert _places(found) == [("main.py", 2, 8, "app.b")]


@pytest.mark.parametrize("reach", ["transitive", "load"])
def test_a_plant_in_the_middle_of_a_chain_is_caught_where_the_chain_enters(
    reach: str, tmp_path: Path
) -> None:
    contract = (
        '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app.b"]\ntargets = ["os"]\n'
        f'reach = "{reach}"\n'
    )
    found = _violations(tmp_path, contract, Site("app.b.n", "import app.a.m"))
    assert _places(found) == [("app/a/m.py", 1, 8, "os")]
    assert _violations(tmp_path, contract, Site("app.b.n", "import app.base")) == []


def test_a_plant_that_closes_a_circle_with_what_is_there(tmp_path: Path) -> None:
    contract = '[[contract]]\nid = "x"\nkind = "acyclic"\npackages = ["app"]\n'
    assert len(_violations(tmp_path, contract, Site("app.base", "import app.a"))) == 1
    assert _violations(tmp_path, contract, Site("app.base", "import app.b")) == []


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (Site("app.a.m", "import\n"), "the code for 'app.a.m', line 1: "),
        (
            Site("app.a.m", "\nfrom .... import x"),
            "the code for 'app.a.m', line 2: the relative import '....' goes above",
        ),
    ],
)
def test_code_that_is_none(site: Site, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        _violations(tmp_path, INDEPENDENT, site)
    assert raised.value.message.startswith(message)


def test_a_module_that_is_not_analysed_takes_no_plant(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'app\.base' is app/base\.py, which is not analysed"):
        _violations(tmp_path, 'exclude = ["app/base.py"]\n' + INDEPENDENT, Site("app.base", "import os"))


def test_plants_as_they_should_be(tmp_path: Path) -> None:
    plants = _plant("app.a.m", "import app.b") + _plant("app.a.m", "import app.base", caught=False)
    write(tmp_path, {"layerguard.toml": INDEPENDENT + plants, **FILES})
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    done = run(tmp_path, "test")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"2 plants in 1 contract: all as they should be.\n"
    assert {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()} == before


def test_plants_that_are_not(tmp_path: Path) -> None:
    plants = (
        _plant("app.a.m", "import app.base\nimport sys")
        + _plant("app.a.m", "import app.b.n", caught=False)
        + _plant("app.b", "import app.a")
    )
    write(tmp_path, {"layerguard.toml": INDEPENDENT + plants, **FILES})
    done = run(tmp_path, "test")
    assert done.returncode == 1
    assert done.stdout.decode() == (
        "layerguard.toml:2: [apart] plant 1 was missed, in 'app.a.m':\n"
        "    import app.base\n"
        "    import sys\n"
        "layerguard.toml:2: [apart] plant 2 was caught, but should not be, in 'app.a.m':\n"
        "    import app.b.n\n"
        "    = app/a/m.py:3:8: LG103 app.a.m imports app.b.n\n"
        "3 plants in 1 contract: 1 was missed, 1 was caught but should not be.\n"
    )


def test_allowances_make_no_difference(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **FILES,
            "layerguard.toml": INDEPENDENT + _plant("app.a.m", "import app.b"),
            "contracts/allowances.toml": 'version = 1\n\n[allow.apart]\n"app.a.m -> app.b" = {}\n',
        },
    )
    assert try_contracts(tmp_path).text == "1 plant in 1 contract: all as they should be.\n"


def test_only_the_contract_that_is_asked_for(tmp_path: Path) -> None:
    other = INDEPENDENT.replace('"apart"', '"other"') + _plant("app.a", "import os")
    write(
        tmp_path, {"layerguard.toml": INDEPENDENT + _plant("app.a", "import app.b") + "\n" + other, **FILES}
    )
    assert run(tmp_path, "test", "--contract", "apart").returncode == 0
    assert run(tmp_path, "test", "--contract", "other").returncode == 1
    unknown = run(tmp_path, "test", "--contract", "aparr")
    assert unknown.returncode == 2
    assert unknown.stderr.decode().splitlines()[0] == "error: there is no contract 'aparr'."


def test_nothing_to_plant_is_no_success(tmp_path: Path) -> None:
    done = run(write(tmp_path, {"layerguard.toml": INDEPENDENT, **FILES}), "test")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[0] == (
        "error: there is nothing to plant: no contract has a [[contract.plant]]."
    )


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        ("in = 'app.a'", "plant 1: the key 'code' is missing."),
        ("code = 'x'", "plant 1: the key 'in' is missing."),
        ("in = 'app.a'\ncode = ' '", "plant 1: 'code' is empty, so that nothing is planted."),
        ("in = 'app/a.py'\ncode = 'x'", "plant 1: 'in': 'app/a.py' is a path; modules are named with dots."),
        ("in = 'app.*'\ncode = 'x'", "plant 1: 'in': 'app.*' is a pattern; here one module is named."),
        (
            "in = 'app.a'\ncode = 'x'\ncaught = 1",
            "plant 1: 'caught' must be true or false, not an integer.",
        ),
        ("in = 'app.a'\ncode = 'x'\ncuaght = true", "plant 1: unknown key 'cuaght'."),
    ],
)
def test_a_plant_that_is_none(plant: str, message: str, tmp_path: Path) -> None:
    text = f"{INDEPENDENT}[[contract.plant]]\n{plant}\n"
    with pytest.raises(UserError) as raised:
        load_config(write(tmp_path, {"layerguard.toml": text, **FILES}))
    assert raised.value.message == f"layerguard.toml: contract 'apart': {message}"


def test_plants_that_are_no_list(tmp_path: Path) -> None:
    text = f"{INDEPENDENT}plant = ['x']\n"
    done = run(write(tmp_path, {"layerguard.toml": text, **FILES}), "test")
    assert done.stderr.decode().splitlines()[0] == (
        "error: layerguard.toml: contract 'apart': 'plant' must be a list of tables, but item 1 is a string."
    )


def test_a_plant_that_is_no_code_is_told_with_its_place(tmp_path: Path) -> None:
    text = INDEPENDENT + _plant("app.a.m", "import os") + _plant("app.a.m", "import os\nimport\n")
    done = run(write(tmp_path, {"layerguard.toml": text, **FILES}), "test")
    assert done.returncode == 2
    first = done.stderr.decode().splitlines()[0]
    start = "error: layerguard.toml:2: contract 'apart': plant 2: the code for 'app.a.m', line 2: "
    assert first.startswith(start)


def test_an_id_in_a_plant_is_none_of_a_contract(tmp_path: Path) -> None:
    text = INDEPENDENT + _plant("app.a", 'id = "late"\nimport app.b') + "\n[[contract]]\nid = 'late'\n"
    text += "kind = 'private'\npackages = ['app']\n"
    config = load_config(write(tmp_path, {"layerguard.toml": text, **FILES}))
    assert config.places == {"apart": ("layerguard.toml", 2), "late": ("layerguard.toml", 12)}


CONTRACTS = {
    "forbidden": """
kind = "forbidden"
sources = ["app.a", "app.folder"]
targets = ["app.b", "torch", "hub.HfApi"]
""",
    "forbidden-name": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.base.LIMIT"]
""",
    "forbidden-alone": """
kind = "forbidden"
sources = ["app"]
targets = ["torch", "app.b.n"]
as-packages = false
""",
    "forbidden-load": """
kind = "forbidden"
sources = ["app.b"]
targets = ["app.a", "torch"]
reach = "load"
""",
    "forbidden-transitive": """
kind = "forbidden"
sources = ["app.b"]
targets = ["app.a"]
reach = "transitive"
""",
    "forbidden-within": """
kind = "forbidden"
sources = ["app"]
targets = ["app.b"]
""",
    "wildcards": """
kind = "forbidden"
sources = ["app.*"]
targets = ["google.cloud.*"]
""",
    "independence": """
kind = "independence"
modules = ["app.*", "!app.base"]
""",
    "independence-load": """
kind = "independence"
modules = ["app.a", "app.b"]
reach = "load"
""",
    "one-member-so-far": """
kind = "independence"
modules = ["app.fold*"]
""",
    "layers": """
kind = "layers"
layers = ["main", "app.a | app.b", "(app.gone)", "app.base"]
""",
    "layers-in": """
kind = "layers"
containers = ["app"]
layers = ["a", "b", "base : folder"]
""",
    "layers-load": """
kind = "layers"
layers = ["app.a", "app.b"]
reach = "load"
""",
    "protected": """
kind = "protected"
modules = ["app.base", "torch"]
importers = ["app.a.m:f", "app.b"]
""",
    "protected-load": """
kind = "protected"
modules = ["app.b"]
importers = []
reach = "load"
""",
    "acyclic": """
kind = "acyclic"
packages = ["app"]
""",
    "acyclic-without-imports": """
kind = "acyclic"
packages = ["app.folder"]
""",
    "acyclic-typing": """
kind = "acyclic"
packages = ["app"]
when = ["typing"]
""",
    "private": """
kind = "private"
packages = ["app"]
""",
    "private-none-yet": """
kind = "private"
packages = ["app.b"]
""",
    "existing": """
kind = "existing"
packages = ["app", "main"]
""",
    "removed": """
kind = "removed"
modules = { "app.old" = "app.new", "gone" = "" }
""",
    "removed-docs": """
kind = "removed"
modules = { "app.old" = "" }
text = ["*.md"]
""",
    "late": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.b"]
when = ["deferred"]
""",
    "typing": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.b"]
when = ["typing"]
""",
    "strings": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.b", "torch"]
via = ["string"]
""",
    "dynamic": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.b"]
via = ["dynamic"]
""",
    "some-aside": """
kind = "forbidden"
sources = ["app.a"]
targets = ["app.b"]
exclude-importers = ["app.a.m"]
""",
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_what_is_derived_is_caught(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"layerguard.toml": f'[[contract]]\nid = "{name}"{CONTRACTS[name]}', **FILES})
    trial = try_contracts(tmp_path, auto=True)
    assert trial.text.splitlines()[:-1] == []
    assert not trial.failed
    assert len(trial.outcomes) >= 2


def test_every_kind_can_be_shown_to_fail() -> None:
    kinds = {text.split('"')[1] for text in CONTRACTS.values()}
    assert kinds == set(KINDS)


def test_every_form_that_a_contract_counts_is_planted(tmp_path: Path) -> None:
    contract = (
        '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b.n"]\n'
        'via = ["import", "dynamic", "string"]\n'
    )
    trial = try_contracts(write(tmp_path, {"layerguard.toml": contract, **FILES}), auto=True)
    assert {outcome.module for outcome in trial.outcomes} == {"app.a"}
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    assert [outcome.code for outcome in trial.outcomes] == [
        "import app.b.n",
        'import importlib\nimportlib.import_module("app.b.n")',
        'PLANTED = "app.b.n"',
        "from app.b.n import planted",
        "import app.b.n as it",
        "from app.b import n as it",
        "from ..b.n import planted",
        "from app.b.n import *",
        'from importlib import import_module as load\nload(".n", package="app.b")',
        '__import__("app.b.n")',
        'PLANTED = "app.b.n:Planted"',
        "def plant():\n    import app.b.n",
        'def plant():\n    import importlib\n    importlib.import_module("app.b.n")',
        'def plant():\n    PLANTED = "app.b.n"',
        typing + "    import app.b.n",
        typing + '    import importlib\n    importlib.import_module("app.b.n")',
        typing + '    PLANTED = "app.b.n"',
        "class Planted:\n    import app.b.n",
    ]


@pytest.mark.parametrize(
    "contract",
    [
        'kind = "independence"\nmodules = ["app.a"]',
        'kind = "layers"\nlayers = ["app.a : app.b"]',
        'kind = "protected"\nmodules = ["torch"]\nimporters = ["**"]',
        'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b"]\nexclude-importers = ["app"]',
        'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.a"]',
    ],
)
def test_a_contract_that_cannot_fail_is_told_by_name(contract: str, tmp_path: Path) -> None:
    text = f'{INDEPENDENT}[[contract]]\nid = "idle"\n{contract}\n'
    trial = try_contracts(write(tmp_path, {"layerguard.toml": text, **FILES}), auto=True, contracts=["idle"])
    assert trial.failed
    assert trial.text == (
        "layerguard.toml:6: [idle] catches nothing that could be derived\n"
        "0 plants in 1 contract: 1 contract catches nothing.\n"
    )


def test_what_is_missed_is_told_with_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layerguard.contracts.forbidden._direct", lambda *_: ())
    contract = '[[contract]]\nid = "x"\nkind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b"]\n'
    contract += 'via = ["dynamic"]\nwhen = ["deferred"]\n'
    trial = try_contracts(write(tmp_path, {"layerguard.toml": contract, **FILES}), auto=True)
    assert trial.failed
    lines = trial.text.splitlines()
    assert lines[:4] == [
        "layerguard.toml:2: [x] a dynamic load, in a function was missed, in 'app.a':",
        "    def plant():",
        "        import importlib",
        '        importlib.import_module("app.b")',
    ]
    assert lines[-2:] == [
        "layerguard.toml:2: [x] catches nothing that could be derived",
        "3 plants in 1 contract: 3 were missed, 1 contract catches nothing.",
    ]
