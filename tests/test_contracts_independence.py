from __future__ import annotations

from graphs import chain, edges, graph, imports, told

from layerguard.contracts.independence import Independence

NONE: frozenset[str] = frozenset()


def test_members_import_no_member_but_themselves() -> None:
    small = graph(
        "app.api.ops.system.serving app.api.images.codec app.api.base app.server",
        "app.api.ops.system.serving -> app.api.ops.system",
        "app.api.ops.system.serving -> app.api.images",
        "app.api.ops.system.serving -> app.api.images.gone",
        "app.api.ops.system.serving -> app.api.base",
        "app.api.images.codec -> app.api.ops.system",
        "app.server -> app.api.images",
    )
    contract = Independence(id="x", modules=("app.api.ops.system", "app.api.images"))
    assert told(contract.check(small, NONE)) == [
        ("app/api/images/codec.py", 1, 8, "app.api.ops.system"),
        ("app/api/ops/system/serving.py", 2, 8, "app.api.images"),
        ("app/api/ops/system/serving.py", 3, 8, "app.api.images.gone"),
    ]


def test_members_that_lie_in_one_another_may_import_each_other() -> None:
    small = graph(
        "app.a.b.x app.a.y app.c", "app.a.b.x -> app.a.y", "app.a.y -> app.a.b", "app.a.b.x -> app.c"
    )
    contract = Independence(id="x", modules=("app.**",), allow_container=True)
    assert edges(contract.check(small, NONE)) == [
        "app.a.b.x -> app.a.y",
        "app.a.b.x -> app.c",
        "app.a.y -> app.a.b",
    ]
    nested = Independence(id="x", modules=("app.a", "app.a.b", "app.c"))
    assert edges(nested.check(small, NONE)) == ["app.a.b.x -> app.c"]


def test_the_container_of_the_members() -> None:
    small = graph(
        "app.api.ops.views app.api.images app.server",
        imports("app.api.ops.views", "app.api", line=1),
        imports("app.api.ops.views", "app.api", "LIMIT", line=2),
        imports("app.api.ops.views", "app.api", "*", line=3),
        imports("app.api.ops.views", "app.api.ops", line=4),
        imports("app.api.ops.views", "app", line=5),
        imports("app.server", "app.api", line=1),
    )
    contract = Independence(id="x", modules=("app.api.*",))
    assert told(contract.check(small, NONE)) == [
        ("app/api/ops/views.py", 1, 8, "app.api"),
        ("app/api/ops/views.py", 3, 8, "app.api"),
    ]
    assert list(Independence(id="x", modules=("app.api.*",), allow_container=True).check(small, NONE)) == []


def test_a_container_within_a_member_is_its_own() -> None:
    small = graph(
        "app.a.b.c app.a.b.d app.a.x", "app.a.b.c -> app.a.b", "app.a.x -> app.a.b", "app.a -> app.a.b"
    )
    contract = Independence(id="x", modules=("app.a", "app.a.b.*"))
    assert edges(contract.check(small, NONE)) == ["app.a.b.c -> app.a.b"]


def test_an_import_that_enters_a_member_which_holds_others_is_told_once() -> None:
    small = graph("app.a.b app.c.d", "app.c.d -> app.a")
    contract = Independence(id="x", modules=("app.*", "app.*.*"))
    assert edges(contract.check(small, NONE)) == ["app.c.d -> app.a"]


def test_a_container_of_one_member_alone_reaches_no_other() -> None:
    small = graph("app.a.only app.b", "app.a.only -> app.a")
    assert list(Independence(id="x", modules=("app.a.only", "app.b")).check(small, NONE)) == []


def test_one_cause_is_one_violation() -> None:
    small = graph(
        "app.loader app.adapters app.models.special app.models.m1 app.models.m2 app.models.m3 app.models.m4",
        "app.loader -> app.adapters",
        imports("app.adapters", "app.models.special", line=2, scope="f", when="deferred"),
        "app.models.special -> app.loader",
        "app.models.m1 -> app.loader",
        "app.models.m2 -> app.loader",
        "app.models.m3 -> app.models.m1",
        "app.models.m3 -> app.loader",
        "app.models.m4 -> os",
    )
    contract = Independence(id="x", modules=("app.models.*",), reach="transitive")
    first, second = sorted(contract.check(small, NONE), key=lambda each: each.order)
    assert told([first, second]) == [
        ("app/adapters.py", 2, 8, "app.models.special"),
        ("app/models/m3.py", 1, 8, "app.models.m1"),
    ]
    assert (first.scope, first.key) == ("f", "app.adapters:f -> app.models.special")
    assert chain(first) == ["app.models.m1", "app.loader", "app.adapters", "app.models.special"]
    assert [(step.path, step.line) for step in first.chain] == [
        ("app/models/m1.py", 1),
        ("app/loader.py", 1),
        ("app/adapters.py", 2),
    ]
    assert (first.sources, second.sources) == (3, 1)
    assert chain(second) == ["app.models.m3", "app.models.m1"]


def test_loading_a_member_runs_the_container() -> None:
    small = graph("app.m.a app.m.b app.m.c", "app.m -> app.m.b")
    contract = Independence(id="x", modules=("app.m.*",), reach="load")
    (violation,) = contract.check(small, NONE)
    assert told([violation]) == [("app/m/__init__.py", 1, 8, "app.m.b")]
    assert violation.sources == 2
    assert [(step.imported, step.as_parent) for step in violation.chain] == [
        ("app.m", True),
        ("app.m.b", False),
    ]


def test_empty_patterns() -> None:
    small = graph("app.plugins.a")
    contract = Independence(id="x", modules=("app.plugin.*", "app.plugins.*", "!app.plugins.no", "requests"))
    assert list(contract.empty_patterns(small)) == ["app.plugin.*", "!app.plugins.no"]
