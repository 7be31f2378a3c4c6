from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec
import pytest
import tomli
from projects import BROKEN, allow, write

from layerguard.config.declarations import read_contract
from layerguard.contracts import KINDS, Contract
from layerguard.errors import UserError
from layerguard.explain import explain
from layerguard.model import CODES
from layerguard.run import check

_KIND_CODES = {kind.code for kind in KINDS.values()}
_SHARED = {field.encode_name for field in msgspec.structs.fields(Contract)}

PROJECT = {
    "layerguard.toml": '''\
contracts = ["rules.toml"]

[[contract]]
id = "layers"
kind = "independence"
modules = ["app.*", "!app.c"]
allow-container = true
exclude-importers = ["app.c"]
severity = "warning"
because = """
They are sold apart: "é".
  One may be missing.
"""
hint = "Ask \\u001b[31mapp.base."
''',
    "rules.toml": (
        '[[contract]]\nkind = "removed"\nid = "old"\nmodules = { "app.old" = "app.new", "app.dead" = "" }\n'
        'via = ["import"]\n'
    ),
    "app/__init__.py": "",
    "app/a.py": "import app.b\n\n\ndef f():\n    from app import b\n",
    "app/b.py": "import app.a\nimport app.c\n",
    "app/c.py": "",
    "contracts/allowances.toml": (
        'version = 1\n[allow.layers]\n"app.b -> app.a" = {}\n'
        '"app.a:f -> app.b" = { reason = "needs the split", ticket = "APP-91", review-by = 2099-03-31 }\n'
        '"app.a:g -> app.b" = { reason = "is gone" }\n'
    ),
}

LAYERS = """\
layers: independence (LG103), layerguard.toml:4
  No member imports another member.
  because: They are sold apart: "é".
             One may be missing.
  hint: Ask ␛[31mapp.base.

  severity = "warning"
  exclude-importers = ["app.c"]
  modules = ["app.*", "!app.c"]
  allow-container = true

  It is broken today: 1 violation.
    app/a.py:1:8: app.a imports app.b
  It allows 2 imports:
    app.b -> app.a
    app.a:f -> app.b; needs the split; APP-91; review by 2099-03-31
  1 allowance no longer needed:
    app.a:g -> app.b; is gone
"""

OLD = """\
old: removed (LG107), rules.toml:3
  Nothing names the old modules any more.

  via = ["import"]
  modules = { "app.old" = "app.new", "app.dead" = "" }

  It holds today: 0 violations.
  It allows 0 imports.
"""


def complaint(topic: str, root: Path) -> tuple[str, str]:
    with pytest.raises(UserError) as caught:
        explain(topic, root)
    return caught.value.message, caught.value.hint


class TestContract:
    def test_a_broken_one(self, tmp_path: Path) -> None:
        assert explain("layers", write(tmp_path, PROJECT) / "app") == LAYERS

    def test_one_that_holds(self, tmp_path: Path) -> None:
        assert explain("old", write(tmp_path, PROJECT)) == OLD

    def test_what_could_not_be_analysed(self, tmp_path: Path) -> None:
        text = explain("old", write(tmp_path, PROJECT | {"app/c.py": "def (:\n", "app/d.py": "\0"}))
        assert text == OLD.replace(
            "  It allows", "  Not all could be analysed: 'app/c.py', 'app/d.py'.\n  It allows"
        )

    def test_it_goes_before_the_kind_of_its_name(self, tmp_path: Path) -> None:
        assert explain("layers", write(tmp_path, PROJECT)).startswith("layers: independence (LG103), ")
        assert explain("removed", tmp_path).startswith("LG107: removed\n\nNothing names")
        assert explain("LG101", tmp_path).startswith("LG101: layers\n\nA lower layer")

    def test_a_project_that_cannot_be_checked(self, tmp_path: Path) -> None:
        write(tmp_path, PROJECT | {"contracts/allowances.toml": "version = 3\n"})
        assert complaint("old", tmp_path)[0] == (
            "contracts/allowances.toml: the allowance file has the version '3'."
        )
        write(tmp_path, {"layerguard.toml": "contrakts = []\n"})
        assert complaint("old", tmp_path)[0] == "layerguard.toml: unknown key 'contrakts'."


class TestUnknown:
    @pytest.mark.parametrize(
        ("topic", "message", "hint"),
        [
            ("LG999", "'LG999' is no code.", "Known are " + ", ".join(f"'{code}'" for code in CODES) + "."),
            ("lg1011", "'lg1011' is no code.", "Did you mean 'LG101'?"),
            ("lg1O3", "'lg1O3' is no code, no kind and no contract.", "Did you mean 'LG103'?"),
            ("layer", "'layer' is no code, no kind and no contract.", "Did you mean 'layers'?"),
            ("odl", "'odl' is no code, no kind and no contract.", "Did you mean 'old'?"),
            ("protect", "'protect' is no code, no kind and no contract.", "Did you mean 'protected'?"),
            (
                "zzz",
                "'zzz' is no code, no kind and no contract.",
                "Known are 'layers', 'old', " + ", ".join(f"'{code}'" for code in CODES) + ".",
            ),
        ],
    )
    def test_in_a_project(self, tmp_path: Path, topic: str, message: str, hint: str) -> None:
        assert complaint(topic, write(tmp_path, PROJECT)) == (message, hint)

    def test_outside_of_one(self, tmp_path: Path) -> None:
        assert complaint("LG999", tmp_path)[0] == "'LG999' is no code."
        assert complaint("zzz", tmp_path)[0].startswith("no configuration: ")


class TestCodes:
    @pytest.mark.parametrize("code", CODES)
    def test_every_code_is_explained_anywhere(self, code: str, tmp_path: Path) -> None:
        text = explain(code, tmp_path)
        assert text.startswith(f"{code}: {CODES[code]}\n\n")
        assert "\nThe cure: " in text
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert explain(code.lower(), tmp_path) == text

    def test_exactly(self, tmp_path: Path) -> None:
        assert explain("LG302", tmp_path) == (
            "LG302: a removed module exists\n\n"
            "A module that a `removed` contract calls removed exists, still or again.\n\n"
            "The cure: delete or move the module, or take it out of the contract.\n"
        )

    @pytest.mark.parametrize("name", KINDS)
    def test_a_kind_is_explained_by_its_docstring(self, name: str, tmp_path: Path) -> None:
        kind = KINDS[name]
        text = f"{kind.code}: {name}\n\n{inspect.getdoc(kind)}\n"
        assert explain(name, tmp_path) == text
        assert explain(kind.code, tmp_path) == text


def docstring(kind: type[Contract]) -> str:
    text = inspect.getdoc(kind)
    assert text
    return text


def examples(kind: type[Contract], language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", docstring(kind), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", KINDS)
class TestDocstrings:
    def test_it_begins_with_the_promise(self, name: str) -> None:
        first, blank, *_ = docstring(KINDS[name]).split("\n")
        assert re.fullmatch(r"[A-Z][^.]*\.", first)
        assert blank == ""

    def test_the_example_is_a_contract_of_the_kind(self, name: str) -> None:
        [example] = examples(KINDS[name], "toml")
        [table] = tomli.loads(example)["contract"]
        assert table["kind"] == name
        assert type(read_contract(table, "example.toml", 1)) is KINDS[name]

    def test_the_python_example_breaks_the_toml_example(self, name: str, tmp_path: Path) -> None:
        kind = KINDS[name]
        [code] = examples(kind, "python")
        path, _, body = code.partition("\n")
        file = path.removeprefix("# ")
        # What the example speaks of is there, so that only its import can break the contract.
        modules = {
            "layers": ["shop/web.py", "shop/cli.py", "shop/orders.py", "shop/stock/rules.py"],
            "forbidden": ["app/images/helpers.py"],
            "independence": ["app/api/images/codec.py", "app/api/base.py", "app/api/ops/system.py"],
            "protected": ["app/images/codec.py", "app/server.py"],
            "acyclic": ["app/orders/api.py"],
            "private": ["app/orders/_rules.py"],
            "existing": ["app/other.py"],
            "removed": ["app/other.py"],
        }
        files = dict.fromkeys([*modules[name], *(["tests/other.py"] * (name == "removed"))], "")
        if name == "acyclic":
            files["app/stock.py"] = "import app.orders.api\nimport app.orders.bad\n"
        for each in [*files, file]:
            files |= {f"{above}/__init__.py": "" for above in map(str, Path(each).parents) if above != "."}
        write(tmp_path, {"layerguard.toml": examples(kind, "toml")[0], **files, file: ""})
        assert [each for each in check(tmp_path).violations if each.location.path == file] == []
        write(tmp_path, {file: code})
        [violation] = check(tmp_path).violations
        line = next(number for number, text in enumerate(code.split("\n"), 1) if f"# {kind.code}" in text)
        assert (violation.code, violation.location.path, violation.location.line) == (kind.code, file, line)
        assert body.count("# LG") == 1

    def test_the_cure_is_told(self, name: str) -> None:
        assert len(re.findall(r"^The cure: \S", docstring(KINDS[name]), re.MULTILINE)) == 1

    def test_every_option_is_described(self, name: str) -> None:
        kind = KINDS[name]
        text = docstring(kind).partition("\nOptions:\n")[2]
        described = re.findall(r"^- `([a-z-]+)`(?: \(default [^)]+\))?: \S", text, re.MULTILINE)
        own = {field.encode_name for field in msgspec.structs.fields(kind)} - _SHARED
        reach = {"reach"} if kind.reaches != ("direct",) else set()
        assert set(described) - {"via"} == own | reach
        assert len(described) == len(set(described))
        defaults = dict(re.findall(r"^- `([a-z-]+)` \(default ([^)]+)\): ", text, re.MULTILINE))
        optional = {f.encode_name for f in msgspec.structs.fields(kind) if not f.required} - _SHARED
        assert set(defaults) - {"via"} == optional | reach
        for field in msgspec.structs.fields(kind):
            said = defaults.get(field.encode_name)
            if said in {"true", "false"}:
                assert field.default is (said == "true")


def test_every_code_has_one_home() -> None:
    assert len(_KIND_CODES) == len(KINDS)
    assert set(CODES) > _KIND_CODES
    assert all(CODES[kind.code] == name == kind.kind for name, kind in KINDS.items())


def test_an_allowance_of_a_project_that_keeps_all(tmp_path: Path) -> None:
    text = explain("ab", write(tmp_path, BROKEN | {"contracts/allowances.toml": allow("app.a -> app.b")}))
    assert text.endswith("\n  It holds today: 0 violations.\n  It allows 1 import:\n    app.a -> app.b\n")
