"""The quick ways come to what the thorough ones say: sets of numbers, headers of blocks, rough masks."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from unittest import mock

import pytest
from graphs import edges as edges_of
from graphs import graph
from hypothesis import given, settings
from hypothesis import strategies as st
from modules_made import modules

from layerguard.code import Code
from layerguard.code.blocks import Blocks
from layerguard.contracts import KINDS
from layerguard.imports import find_in_text
from layerguard.imports.statements import find_statements

_NAMES = ("app.a.x", "app.a.y", "app.ab", "app.b.x.p", "app.b.y", "app.c", "app.d.q")
_MODULES = sorted(graph(" ".join(_NAMES)).modules)
_ENDS = [*_MODULES, "ext", "ext.sub", "app.gone", "app.a.gone"]
_EDGES = st.lists(
    st.sampled_from([(one, other) for one in _MODULES for other in _ENDS if one != other]),
    max_size=12,
    unique=True,
)
_SOME = st.lists(
    st.sampled_from([*_ENDS, "app.a.Name", "app.*", "app.b.**"]), min_size=1, max_size=4, unique=True
)


@settings(deadline=None, max_examples=400)
@given(_EDGES, _SOME, _SOME, st.sampled_from(["forbidden", "independence", "layers"]))
def test_what_sets_call_kept_is_kept(
    found: list[tuple[str, str]], some: list[str], others: list[str], kind: str
) -> None:
    options = {"forbidden": {"sources": some, "targets": others}, "independence": {"modules": some}}
    chosen = {name: tuple(texts) for name, texts in options.get(kind, {"layers": some}).items()}
    contract = KINDS[kind](id="x", reach="transitive", **chosen)  # type: ignore[arg-type]
    lines = [f"{one} -> {other}" for one, other in found]
    quick = edges_of(contract.check(graph(" ".join(_NAMES), *lines), frozenset()))
    with (
        mock.patch("layerguard.chains._is_kept", return_value=False),
        mock.patch("layerguard.contracts.forbidden._is_kept", return_value=False),
    ):
        thorough = edges_of(contract.check(graph(" ".join(_NAMES), *lines), frozenset()))
    assert quick == thorough


def _compare(text: str) -> int:
    """Compare the two ways to read a text; return how many imports stand in blocks."""
    assert find_in_text(text, ()).imports == tuple(
        each for each in find_in_text(text, {"string", "import"}).imports if each.via == "import"
    )
    code = Code(text)
    blocks, number = Blocks(code, ("TYPE_CHECKING",)), 0
    for statement in find_statements(code):
        if statement.begins >= 0:
            assert blocks.around_line(statement.begins) == blocks.around(statement.offset)
            number += not statement.at_margin
    return number


@settings(deadline=None, max_examples=200)
@given(modules())
def test_modules_made_of_awkward_pieces(text: str) -> None:
    _compare(text)


@pytest.mark.parametrize("package", ["asyncio", "email", "importlib", "multiprocessing", "unittest"])
def test_files_of_the_standard_library(package: str) -> None:
    folder = Path(sysconfig.get_path("stdlib"), package)
    assert sum(_compare(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))) > 3


@pytest.mark.parametrize(
    "text",
    [
        "x = f'{a[\"b\"]}'\ndef f():\n    import a\n",
        'x = f"}}{ {x["a"]} }"\nif x:\n    import a\n',
        "x = '''\nimport no\n'''\nif x:\n    import a\n",
        "x = 1 # '''\nif x:\n    import a # \"\n",
        "'doc'\nimport a\nx = 'import b'\n",
        (
            "x = [\n    y\n  for y in z\n]\nclass C:\n    def f(self):\n        g(b\n  if c else d)\n"
            "        import a\n"
        ),
        "if x:\n\tif y:\n\t\timport a\n\telse:\n        import b\n",
        # What comes behind the last import, and belongs to the block around it:
        "try:\n    import a\n    x = '''\ntext\n'''\nexcept ImportError:\n    pass\n",
        "try:\n    import a\n    x = f'''\ntext {y}\n'''\nexcept ImportError:\n    pass\n",
        "try:\n    import a\n    x = [\n1,\n]\nexcept ImportError:\n    pass\n",
        "try:\n    import a\n    x = {\n1: (\n2)}\nexcept ImportError:\n    pass\n",
        "try:\n    import a\n    x = 1 + \\\ny\nexcept ImportError:\n    pass\n",
        "try:\n    import a\n\n# (\nexcept ImportError:\n    pass\nx = 1\n",
        "try:\n    import a\n    x = 1\nexcept:\n    pass\nx = '''\nimport b\n'''\n",
        "def f():\n    if T:\n        import a\nfrom typing import TYPE_CHECKING\nx = 1\nT = TYPE_CHECKING\n",
        "def f():\n    if U:\n        import a\nT = TYPE_CHECKING\nimport b\nx = 1\nU = T\n",
        "def f():\n    if TYPE_CHECKING:\n        import a\nx = 1\nTYPE_CHECKING = True\n",
        "if x: import a\nelse: y = 1\nz = 2\n",
        "x = 1; import a\nimportant = '''\n1'''\n",
        "lazy import a\nif x:\n    lazy from b import c\ny = 1\n",
        "if x:\n    from a import (\nb,  # )\nc)\ny = 1\n",
        "from a import b, \\\nc\nd = 1\n",
        "x = (y); \\\nimport a\nd = 1\n",
        "import a\nfrom a.\\\nb import c\nd = 1\n",
    ],
)
def test_awkward_texts(text: str) -> None:
    _compare(text)
    assert [each.module for each in find_in_text(text, ()).imports][:1] == ["a"]
