from __future__ import annotations

from graphs import edges, graph, imports, told

from layerguard.contracts.protected import Protected

NONE: frozenset[str] = frozenset()


def test_only_the_importers_and_the_package_itself() -> None:
    small = graph(
        "app.images.codec app.server app.routing.x app.imagesize app.ops",
        imports("app.images", "app.images.codec"),
        imports(
            "app.server",
            "app.images.router",
            line=1,
            scope="Server.load.inner",
            when="deferred",
            via="dynamic",
        ),
        imports("app.server", "app.images", line=2, scope="Server.start", when="deferred", via="dynamic"),
        imports("app.server", "app.images", line=3),
        imports("app.routing.x", "app.images.codec", "Codec"),
        imports("app.ops", "app.images.codec", via="string"),
        imports("app.ops", "app.images", via="text", line=2),
        imports("app.ops", "app.imagesize", line=3),
    )
    contract = Protected(id="x", modules=("app.images",), importers=("app.server:Server.load", "app.routing"))
    assert told(contract.check(small, NONE)) == [
        ("app/ops.py", 1, 8, "app.images.codec"),
        ("app/server.py", 2, 8, "app.images"),
        ("app/server.py", 3, 8, "app.images"),
    ]
    assert {v.code for v in contract.check(small, NONE)} == {"LG104"}
    strict = Protected(id="x", modules=("app.images",), importers=("app.server",), via=("import",))
    assert edges(strict.check(small, NONE)) == ["app.routing.x -> app.images.codec"]


def test_names_of_external_modules() -> None:
    small = graph(
        "app.access app.x",
        imports("app.access", "hub", "HfApi"),
        imports("app.x", "hub", "login", "HfApi", line=2),
        imports("app.x", "hub", line=5),
        imports("app.x", "hub", "download_all", line=6),
        imports("app.x", "hub.download", "thing", line=7),
    )
    contract = Protected(id="x", modules=("hub.HfApi", "hub.download"), importers=("app.access",))
    assert told(contract.check(small, NONE)) == [
        ("app/x.py", 2, 40, "hub.HfApi"),
        ("app/x.py", 7, 8, "hub.download"),
    ]


def test_load_counts_what_runs_on_load_and_parents() -> None:
    small = graph(
        "app.a app.heavy.free app.b",
        imports("app.a", "app.heavy.free", line=1),
        imports("app.a", "app.heavy", line=2, when="deferred", scope="f"),
        imports("app.b", "app.heavy", via="string"),
    )
    modules = ("app.heavy", "!app.heavy.free")
    assert told(Protected(id="x", modules=modules, importers=(), reach="load").check(small, NONE)) == [
        ("app/a.py", 1, 8, "app.heavy.free")
    ]
    whole = Protected(id="x", modules=("app.heavy",), importers=(), reach="load")
    assert told(whole.check(small, NONE)) == [("app/a.py", 1, 8, "app.heavy.free")]
    assert told(Protected(id="x", modules=modules, importers=(), reach="transitive").check(small, NONE)) == [
        ("app/a.py", 2, 8, "app.heavy"),
        ("app/b.py", 1, 8, "app.heavy"),
    ]


def test_empty_patterns() -> None:
    small = graph("app.net app.server", imports("app.server", "requests"))
    contract = Protected(
        id="x",
        modules=("requests", "nobody", "app.lost", "app.net.get"),
        importers=("app.server:Server.load", "app.gone:f", "app.none", "elsewhere"),
        exclude_importers=("app.former",),
    )
    assert list(contract.empty_patterns(small)) == ["app.lost", "app.former"]
