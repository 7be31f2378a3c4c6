from __future__ import annotations

from graphs import chain, edges, graph, told

from layerguard.contracts.layers import Layers
from layerguard.model import Location

NONE: frozenset[str] = frozenset()


def test_siblings_optional_layers_and_free_modules() -> None:
    shop = graph(
        "shop.web shop.cli shop.orders.api shop.stock.rules shop.db shop.free",
        "shop.web -> shop.cli",
        "shop.web -> shop.orders",
        "shop.cli -> shop.web",
        "shop.db -> shop.stock.rules",
        "shop.free -> shop.web",
        "shop.orders.api -> shop.orders",
        "shop.stock -> shop.orders.api",
        "shop.stock -> shop.db",
    )
    house = Layers(
        id="house", layers=("shop.web : shop.cli", "shop.orders | shop.stock", "(shop.extra)", "shop.db")
    )
    assert told(house.check(shop, NONE)) == [
        ("shop/db.py", 1, 8, "shop.stock.rules"),
        ("shop/stock/__init__.py", 1, 8, "shop.orders.api"),
    ]
    violation = min(house.check(shop, NONE), key=lambda each: each.order)
    assert violation.code == "LG101"
    assert violation.message == "shop.db imports shop.stock.rules"
    assert violation.key == "shop.db -> shop.stock.rules"
    assert violation.chain == ()
    assert violation.sources == 0
    assert list(house.empty_patterns(shop)) == []


def test_containers_and_strays() -> None:
    shop = graph(
        "shop.orders.api shop.orders.rules shop.orders.helpers shop.orders.strange.x "
        "shop.stock.api shop.stock.rules",
        "shop.orders.rules -> shop.orders.api",
        "shop.orders.api -> shop.orders.rules",
        "shop.stock.rules -> shop.orders.api",
        folders=["shop.orders.strange"],
    )
    inside = Layers(
        id="inside",
        containers=("shop.*",),
        layers=("api", "rules", "(store)"),
        exhaustive=True,
        exhaustive_ignores=("help*",),
    )
    ordinary, stray = sorted(inside.check(shop, NONE), key=lambda each: each.order)
    assert told([ordinary]) == [("shop/orders/rules.py", 1, 8, "shop.orders.api")]
    assert stray.location == Location("shop/orders/strange/x.py", 1, 1, 1, 1)
    assert stray.message == "'shop.orders.strange' is in no layer of 'shop.orders'"
    assert (stray.code, stray.importer, stray.imported, stray.key) == ("LG101", "shop.orders.strange", "", "")


def test_a_module_belongs_to_the_deepest_layer_that_holds_it() -> None:
    small = graph("app.low.web app.low.x app.high", "app.low.x -> app.low.web", "app.high -> app.low.web")
    house = Layers(id="x", layers=("app.low.web", "app.high", "app.low"))
    assert edges(house.check(small, NONE)) == ["app.high -> app.low.web", "app.low.x -> app.low.web"]


def test_a_layer_of_several_components_lies_deeper_than_a_child() -> None:
    small = graph("app.sub.api app.sub.other app.db")
    house = Layers(id="x", containers=("app",), layers=("sub.api", "db"), exhaustive=True)
    assert [v.importer for v in house.check(small, NONE)] == ["app.sub.other"]


def test_nested_containers_tell_of_an_import_once() -> None:
    small = graph("a.a.b.x a.a.b.y", "a.a.b.y -> a.a.b.x")
    house = Layers(id="x", containers=("a", "a.a"), layers=("**.x", "**.y"))
    assert edges(house.check(small, NONE)) == ["a.a.b.y -> a.a.b.x"]
    plain = graph("a.a.x a.a.y a.x a.y", "a.a.y -> a.a.x", "a.y -> a.x")
    house = Layers(id="x", containers=("a", "a.a"), layers=("x", "y"))
    assert edges(house.check(plain, NONE)) == ["a.a.y -> a.a.x", "a.y -> a.x"]


def test_chains_lead_through_modules_of_no_layer_only() -> None:
    small = graph(
        "app.web app.mid app.db app.glue app.more",
        "app.db -> app.glue",
        "app.glue -> app.more",
        "app.more -> app.web",
        "app.mid -> app.db",
    )
    house = Layers(id="x", layers=("app.web", "app.mid", "app.db"), reach="transitive")
    (violation,) = house.check(small, NONE)
    assert told([violation]) == [("app/more.py", 1, 8, "app.web")]
    assert chain(violation) == ["app.db", "app.glue", "app.more", "app.web"]
    assert violation.sources == 1
    assert list(Layers(id="x", layers=house.layers).check(small, NONE)) == []


def test_empty_patterns() -> None:
    small = graph("app.a.api app.b.api app.b.rules")
    house = Layers(id="x", layers=("app.a", "app.gone", "(app.maybe)", "(app.c) | app.d"))
    assert list(house.empty_patterns(small)) == ["app.gone", "app.d"]
    inside = Layers(
        id="x",
        containers=("app.*", "lost"),
        layers=("api", "rules", "nothing"),
        exhaustive=True,
        exhaustive_ignores=("api", "never"),
        exclude_importers=("app.tests.**", "os"),
    )
    assert list(inside.empty_patterns(small)) == ["app.a.rules", "nothing", "never", "app.tests.**"]


def test_problems() -> None:
    def problems(
        layers: tuple[str, ...], containers: tuple[str, ...] = (), **more: bool
    ) -> list[tuple[str, str]]:
        return list(Layers(id="x", layers=layers, containers=containers, exhaustive=bool(more)).problems())

    assert problems(("a : b", "(c)", "d | e")) == []
    assert problems(("a : b | c",)) == [
        ("layers", "'a : b | c' mixes independent siblings ('|') and free ones (':')")
    ]
    assert problems(("a | ", "")) == [
        ("layers", "'a | ' has an empty name"),
        ("layers", "'' has an empty name"),
    ]
    assert problems(("a", "(a)")) == [("layers", "'a' stands in it twice")]
    assert problems(("!a",)) == [("layers", "'!a': a layer takes nothing away")]
    assert problems(()) == [("layers", "names no layer")]
    assert problems(("a",), exhaustive=True) == [("exhaustive", "needs 'containers'")]
    assert problems(("a",), ("b",), exhaustive=True) == []
    ignores = Layers(id="x", layers=("a",), exhaustive_ignores=("b",))
    assert list(ignores.problems()) == [("exhaustive-ignores", "needs 'exhaustive'")]
