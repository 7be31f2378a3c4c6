from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerguard.allowances.moves import Moves

BEFORE = {"app", "app.a", "app.a.m", "app.a.q", "app.b", "app.b.x", "app.old", "app.old.sub", "lib"}
MOVES = Moves(
    tables={"app.old": "app.new", "app.old.sub": "app.apart", "app.dead": ""},
    renames={"app.a.m": "app.a.n", "app.b": "app.c", "docs/a:b.md": "docs/c.md", "app/a/m.py": "app/a/n.py"},
    before=BEFORE,
)


@pytest.mark.parametrize(
    ("key", "now"),
    [
        ("app.a.m -> app.b.x", "app.a.n -> app.b.x"),
        ("app.a.m:C.f -> os.path (typing)", "app.a.n:C.f -> os.path (typing)"),
        ("app.a.q -> app.a.m", "app.a.q -> app.a.n"),
        ("app.a.q -> app.a.m.Name (string)", "app.a.q -> app.a.n.Name (string)"),
        ("app.a.q -> app.old", "app.a.q -> app.new"),
        ("app.a.q -> app.old.gone.Name", "app.a.q -> app.new.gone.Name"),
        ("app.a.q -> app.old.sub.Name", "app.a.q -> app.apart.Name"),
        ("app.old.x:f -> lib", "app.new.x:f -> lib"),
        ("app.dead -> lib", "app.dead -> lib"),
        ("app.a.q -> app.older", "app.a.q -> app.older"),
        ("docs/a:b.md -> app.old", "docs/a:b.md -> app.new"),
        ("app.a.q -> app.b", "app.a.q -> app.c"),
        ("app.a.q -> app.b.Name", "app.a.q -> app.c.Name"),
        ("app.a.q -> app.b.x", "app.a.q -> app.b.x"),
        ("app.a.q -> app.b.x.Name", "app.a.q -> app.b.x.Name"),
        ("no key at all", "no key at all"),
    ],
)
def test_what_a_key_is_now(key: str, now: str) -> None:
    assert MOVES.follow(key) == now
    assert MOVES.names(key)[:1] == ([] if key == now else [now])


def test_one_side_or_both() -> None:
    """What a `removed` contract tolerates in a module that moves has the old name still."""
    assert MOVES.names("app.a.m -> app.old.x") == [
        "app.a.n -> app.new.x",
        "app.a.n -> app.old.x",
        "app.a.m -> app.new.x",
    ]
    assert MOVES.names("app.a.m -> lib") == ["app.a.n -> lib"]
    assert MOVES.names("app.a.q -> lib") == []
    assert MOVES.names("no key at all") == []


def test_where_an_importer_may_come_from() -> None:
    assert MOVES.origins("app.a.n") == ["app.a.n", "app.a.m"]
    assert MOVES.origins("app.new.x") == ["app.new.x", "app.old.x"]
    assert MOVES.origins("app.newer") == ["app.newer"]
    assert MOVES.origins("docs/c.md") == ["docs/c.md", "docs/a:b.md"]


_NAMES = st.sampled_from(["a", "a.b", "a.b.c", "d", "d.b", "e"])
_MAPS = st.dictionaries(_NAMES, _NAMES, max_size=3)


@given(_MAPS, _MAPS, st.sets(_NAMES), _NAMES, _NAMES, st.sampled_from(["", ":f", ":C.f"]))
def test_only_names_move(
    tables: dict[str, str],
    renames: dict[str, str],
    before: set[str],
    importer: str,
    imported: str,
    scope: str,
) -> None:
    moves = Moves(tables, renames, before)
    for name in moves.names(f"{importer}{scope} -> {imported} (typing)"):
        left, _, right = name.partition(" -> ")
        assert left.partition(":")[2] == scope[1:]
        assert right.endswith(" (typing)")
        assert importer in moves.origins(left.partition(":")[0]), name


def test_no_move_no_names() -> None:
    assert Moves({}, {}, ()).names("app.a -> app.b") == []
