from __future__ import annotations

from graphs import edges, graph, imports, told

from layerguard.contracts.private import Private

NONE: frozenset[str] = frozenset()


def test_private_modules_stay_inside_their_parent_package() -> None:
    small = graph(
        "app.__main__ app.orders._rules.deep app.orders.deep.use app.stock.count tests.test_rules",
        "app.orders.deep.use -> app.orders._rules",
        "app.orders._rules.deep -> app.orders._rules",
        "app.orders -> app.orders._rules.deep",
        "app.stock.count -> app.orders",
        "app.stock.count -> app.orders._rules",
        "app.stock.count -> app.orders._rules.deep",
        "app.stock.count -> app.__main__",
        imports("app.stock.count", "app.orders", "_private_name", line=9),
        "tests.test_rules -> app.orders._rules",
        "tests.test_rules -> requests._internal",
    )
    contract = Private(id="x", packages=("app",))
    assert told(contract.check(small, NONE)) == [
        ("app/stock/count.py", 2, 8, "app.orders._rules"),
        ("app/stock/count.py", 3, 8, "app.orders._rules.deep"),
        ("tests/test_rules.py", 1, 8, "app.orders._rules"),
    ]
    assert {v.code for v in contract.check(small, NONE)} == {"LG106"}
    assert edges(Private(id="x", packages=("app.stock",)).check(small, NONE)) == []
    assert edges(Private(id="x", packages=("requests",)).check(small, NONE)) == [
        "tests.test_rules -> requests._internal"
    ]


def test_the_inner_of_two_private_modules_counts_too() -> None:
    small = graph(
        "app._a._b.x app.c app._a.d", "app._a.d -> app._a._b.x", "app.c -> app._a", "app.c -> app._a._b"
    )
    assert edges(Private(id="x", packages=("app",)).check(small, NONE)) == ["app.c -> app._a._b"]
    outer = graph("app._a.p._b app._a.q", "app._a.q -> app._a.p._b")
    assert edges(Private(id="x", packages=("app",)).check(outer, NONE)) == ["app._a.q -> app._a.p._b"]


def test_a_top_level_module_has_no_parent() -> None:
    assert edges(Private(id="x", packages=("_top",)).check(graph("_top a", "a -> _top"), NONE)) == []


def test_empty_patterns() -> None:
    assert list(Private(id="x", packages=("app", "app.lib")).empty_patterns(graph("app.a"))) == ["app.lib"]
