from __future__ import annotations

from graphs import graph, imports, told

from layerguard.contracts.existing import Existing

NONE: frozenset[str] = frozenset()


def _binds(module: str, name: str) -> bool:
    return (module, name) in {("app", "base"), ("app", "renamed"), ("app.lazy", "anything")}


def test_what_a_move_left_behind() -> None:
    small = graph(
        "app.base app.lazy.x app.wire.x app.space.x app.use",
        imports("app.use", "app.gone", "x", line=1),
        imports("app.use", "app", "renamed", "gone", "__doc__", "*", line=2),
        imports("app.use", "app.base.deep", line=3),
        imports("app.use", "app.version", line=4),
        imports("app.use", "app.wire", "_pb2", line=5),
        imports("app.use", "app.lazy", "anything", line=6),
        imports("app.use", "app.optional", line=7, guarded=True),
        imports("app.use", "app", "unsure", line=8, guarded=True),
        imports("app.use", "app.surely", line=9, via="dynamic", scope="f", when="deferred"),
        imports("app.use", "app.nowhere", line=10, via="string"),
        imports("app.use", "app.base", "whatever", line=11),
        imports("app.use", "elsewhere", "thing", line=12),
        imports("app.use", "app.space", "nothing", line=13),
        imports("app.use", "app.lazy.x", line=14),
        imports("tests.t", "app.moved", line=1),
        folders=["app.space"],
        binds=_binds,
    )
    contract = Existing(id="x", packages=("app",), generated=("app.**._pb2", "app.version"))
    violations = sorted(contract.check(small, NONE), key=lambda each: each.order)
    assert told(violations) == [
        ("app/use.py", 1, 8, "app.gone"),
        ("app/use.py", 2, 40, "app.gone"),
        ("app/use.py", 3, 8, "app.base.deep"),
        ("app/use.py", 9, 8, "app.surely"),
        ("tests/t.py", 1, 8, "app.moved"),
    ]
    assert violations[1].message == "app.use imports app.gone, which does not exist"
    assert violations[1].key == "app.use -> app.gone"
    assert violations[0].code == "LG108"
    assert told(Existing(id="x", packages=("app.wire",)).check(small, NONE)) == [
        ("app/use.py", 5, 30, "app.wire._pb2")
    ]


def test_empty_patterns() -> None:
    contract = Existing(id="x", packages=("app", "app.gone"), generated=("app.version",))
    assert list(contract.empty_patterns(graph("app.a"))) == ["app.gone"]
