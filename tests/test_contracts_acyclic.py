from __future__ import annotations

from graphs import edges, graph, imports, told

from layerguard.contracts.acyclic import Acyclic

NONE: frozenset[str] = frozenset()

SHOP = graph(
    "app.__main__ app.orders._rules app.orders.deep.use app.orders.bad app.stock.count",
    "app.__main__ -> app.orders",
    "app.orders.deep.use -> app.orders._rules",
    "app.stock.count -> app.orders",
    "app.stock.count -> app.orders._rules",
    "app.stock.count -> app.__main__",
    "app.orders.bad -> app.stock.count",
    "app -> app.orders",
    "app.orders -> app",
)


def test_the_import_that_closes_the_circle() -> None:
    (violation,) = Acyclic(id="x", packages=("app",)).check(SHOP, NONE)
    assert told([violation]) == [("app/orders/bad.py", 1, 8, "app.stock.count")]
    assert violation.code == "LG105"
    assert violation.message == (
        "app.orders.bad imports app.stock.count, "
        "which closes the circle app.orders -> app.stock -> app.orders"
    )
    assert violation.chain == ()


def test_every_place_of_the_edge_with_fewest_imports() -> None:
    small = graph(
        "app.a.x app.a.y app.b",
        "app.a.x -> app.b",
        "app.a.y -> app.b",
        "app.a.y -> app.b",
        "app.b -> app.a",
        "app.b -> app.a.x",
        "app.a.x -> app.a.y",
        "app.a.y -> app.a.x",
    )
    assert told(Acyclic(id="x", packages=("app",)).check(small, NONE)) == [
        ("app/a/x.py", 2, 8, "app.a.y"),
        ("app/b.py", 1, 8, "app.a"),
        ("app/b.py", 2, 8, "app.a.x"),
    ]


def test_depth_counts_levels_below_each_package() -> None:
    small = graph(
        "app.a app.b app.p.a app.p.b app.p.q.a app.p.q.b",
        *("app.a -> app.b", "app.b -> app.a"),
        *("app.p.a -> app.p.b", "app.p.b -> app.p.a"),
        *("app.p.q.a -> app.p.q.b", "app.p.q.b -> app.p.q.a"),
    )

    def found(depth: int | None, *packages: str) -> list[str]:
        return edges(Acyclic(id="x", packages=packages, depth=depth).check(small, NONE))

    assert found(1, "app") == ["app.a -> app.b"]
    assert found(2, "app") == ["app.a -> app.b", "app.p.a -> app.p.b"]
    assert found(None, "app") == ["app.a -> app.b", "app.p.a -> app.p.b", "app.p.q.a -> app.p.q.b"]
    assert found(1, "app.p") == ["app.p.a -> app.p.b"]
    assert found(1, "app", "app.p.*", "!app.p.a") == ["app.a -> app.b", "app.p.q.a -> app.p.q.b"]
    assert found(None, "app", "app.p") == found(None, "app")


def test_a_tolerated_import_stays_the_one_that_is_told() -> None:
    lines = ["app.a -> app.b", "app.a -> app.b.x", "app.b -> app.a", "app.c -> app.a"]
    key = "app.b -> app.a"
    contract = Acyclic(id="x", packages=("app",))
    before = graph("app.a app.b.x app.c", *lines)
    assert edges(contract.check(before, NONE)) == ["app.b -> app.a"]
    assert edges(contract.check(before, frozenset({key}))) == ["app.b -> app.a"]
    # One more place on the tolerated side would make the other side the lighter one.
    more = graph("app.a app.b.x app.c", *lines, "app.b.x -> app.a", "app.b.x -> app.a")
    assert edges(contract.check(more, NONE)) == ["app.a -> app.b", "app.a -> app.b.x"]
    assert edges(contract.check(more, frozenset({key, "app.b.x -> app.a"}))) == [
        "app.b -> app.a",
        "app.b.x -> app.a",
        "app.b.x -> app.a",
    ]
    # An entry for an import that lies in no circle suppresses nothing.
    assert edges(contract.check(before, frozenset({key, "app.c -> app.a"}))) == ["app.b -> app.a"]


def test_only_imports_that_count_make_circles() -> None:
    small = graph("app.a app.b", "app.a -> app.b", imports("app.b", "app.a", when="typing"))
    assert edges(Acyclic(id="x", packages=("app",)).check(small, NONE)) == ["app.a -> app.b"]
    assert edges(Acyclic(id="x", packages=("app",), when=("load", "deferred")).check(small, NONE)) == []


def test_problems_and_empty_patterns() -> None:
    assert list(Acyclic(id="x", packages=("a",), depth=0).problems()) == [
        ("depth", "must be 1 or more, not 0")
    ]
    assert list(Acyclic(id="x", packages=("a",), depth=1).problems()) == []
    assert list(Acyclic(id="x", packages=("app", "app.gone", "app.*")).empty_patterns(SHOP)) == ["app.gone"]
