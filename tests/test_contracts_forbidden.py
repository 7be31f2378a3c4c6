from __future__ import annotations

from graphs import chain, edges, graph, imports, told
from msgspec import structs

from layerguard.contracts.forbidden import Forbidden

NONE: frozenset[str] = frozenset()


def test_utilities_do_not_know_helpers() -> None:
    small = graph(
        "srv.image_utils srv.utils srv.images.helpers srv.video.deep.helpers.x srv.helpersish",
        "srv.image_utils -> srv.images.helpers",
        "srv.utils -> srv.video.deep.helpers.x",
        "srv.utils -> srv.helpersish",
        "srv.images.helpers -> srv.image_utils",
    )
    contract = Forbidden(id="x", sources=("srv.*_utils", "srv.utils"), targets=("srv.**.helpers",))
    assert told(contract.check(small, NONE)) == [
        ("srv/image_utils.py", 1, 8, "srv.images.helpers"),
        ("srv/utils.py", 1, 8, "srv.video.deep.helpers.x"),
    ]


def test_external_packages_and_names() -> None:
    small = graph(
        "app.x",
        imports("app.x", "cloud", "compute", "storage", line=1),
        imports("app.x", "cloud.storage.blob", "Blob", line=2),
        imports("app.x", "cloud.storagex", line=3),
        imports("app.x", "pickle", line=4, via="dynamic", scope="f", when="deferred"),
        imports("app.x", "cloud", "*", line=5),
        imports("app.x", "pickle", line=6, via="string"),
    )
    contract = Forbidden(id="x", sources=("app",), targets=("cloud.storage", "pickle", "retired"))
    assert told(contract.check(small, NONE)) == [
        ("app/x.py", 1, 40, "cloud.storage"),
        ("app/x.py", 2, 8, "cloud.storage.blob"),
        ("app/x.py", 4, 8, "pickle"),
    ]
    assert [v.key for v in contract.check(small, NONE)] == [
        "app.x -> cloud.storage",
        "app.x -> cloud.storage.blob",
        "app.x:f -> pickle (dynamic)",
    ]
    assert list(contract.empty_patterns(small)) == []


def test_what_lies_in_source_and_target_is_free() -> None:
    small = graph(
        "app.api.x app.api.y app.base app.api.secret.key",
        "app.api.x -> app.api.y",
        "app.api.x -> app.base",
        "app.api.x -> app.api.secret",
        "app.api.secret -> app.api.secret.key",
    )
    wide = Forbidden(id="x", sources=("app.api",), targets=("app.**",))
    assert edges(wide.check(small, NONE)) == ["app.api.x -> app.base"]
    whole = Forbidden(id="x", sources=("app.api",), targets=("app",))
    assert edges(whole.check(small, NONE)) == ["app.api.x -> app.base"]
    inner = Forbidden(id="x", sources=("app",), targets=("app.api.secret",))
    assert edges(inner.check(small, NONE)) == ["app.api.x -> app.api.secret"]


def test_modules_alone() -> None:
    small = graph(
        "app.api.ops app.base",
        "app.api -> app.api.ops",
        "app.api -> app.base",
        "app.api -> os",
        "app.api.ops -> app.base",
    )
    contract = Forbidden(id="x", sources=("app.api",), targets=("app.**",), as_packages=False)
    assert edges(contract.check(small, NONE)) == ["app.api -> app.api.ops", "app.api -> app.base"]


def test_every_place_of_an_entering_import_is_told_once_with_its_sources() -> None:
    small = graph(
        "app.a app.b app.glue app.heavy",
        "app.a -> app.glue",
        "app.b -> app.a",
        "app.glue -> app.heavy",
        "app.glue -> app.heavy",
    )
    contract = Forbidden(id="x", sources=("app.a", "app.b"), targets=("app.heavy",), reach="transitive")
    violations = list(contract.check(small, NONE))
    assert told(violations) == [("app/glue.py", 1, 8, "app.heavy"), ("app/glue.py", 2, 8, "app.heavy")]
    assert [v.sources for v in violations] == [2, 2]
    assert [chain(v) for v in violations] == [["app.a", "app.glue", "app.heavy"]] * 2
    assert [step.line for step in violations[1].chain] == [1, 2]


def test_a_chain_does_not_pass_through_the_target() -> None:
    small = graph(
        "app.a app.heavy.x app.heavy.y app.base",
        "app.a -> app.heavy.x",
        "app.heavy.x -> app.base",
        "app.base -> app.heavy.y",
    )
    contract = Forbidden(id="x", sources=("app.a",), targets=("app.heavy",), reach="transitive")
    assert edges(contract.check(small, NONE)) == ["app.a -> app.heavy.x"]


def test_the_chain_shown_leads_round_the_target() -> None:
    small = graph(
        "app.s app.z app.m app.heavy",
        *(
            "app.s -> app.z",
            "app.s -> app.heavy",
            "app.z -> app.m",
            "app.heavy -> app.m",
            "app.m -> app.heavy",
        ),
    )
    contract = Forbidden(id="x", sources=("app.s",), targets=("app.heavy",), reach="transitive")
    assert {tuple(chain(violation)) for violation in contract.check(small, NONE)} == {
        ("app.s", "app.heavy"),
        ("app.s", "app.z", "app.m", "app.heavy"),
    }


def test_a_source_within_the_target_may_come_back_to_itself() -> None:
    small = graph(
        "app.api.x app.base lib.y",
        *("app.api.x -> lib.y", "lib.y -> app.api", "lib.y -> app.base"),
    )
    contract = Forbidden(id="x", sources=("app.api",), targets=("app",), reach="transitive")
    (violation,) = contract.check(small, NONE)
    assert chain(violation) == ["app.api.x", "lib.y", "app.base"]


def test_excluded_importers_and_timing_cut_chains() -> None:
    small = graph(
        "app.a app.b app.heavy",
        imports("app.a", "app.b", when="typing"),
        imports("app.b", "app.heavy", scope="f", when="deferred"),
    )
    contract = Forbidden(id="x", sources=("app.a",), targets=("app.heavy",), reach="transitive")
    assert edges(contract.check(small, NONE)) == ["app.b -> app.heavy"]
    assert not edges(structs.replace(contract, when=("load", "deferred")).check(small, NONE))
    assert not edges(structs.replace(contract, exclude_importers=("app.b:f",)).check(small, NONE))


def test_empty_patterns() -> None:
    small = graph(
        "app.a app.pkg.x tests.t", imports("app.a", "app.pkg", "Thing"), imports("app.a", "hub.sub")
    )
    contract = Forbidden(
        id="x",
        sources=("app.a", "app.gone", "other", "!app.none"),
        targets=(
            "app.lost",
            "app.a.Name",
            "app.pkg.Thing",
            "app.pkg.Other",
            "requests",
            "*.sub",
            "*.nix",
            "!app.no",
        ),
        exclude_importers=("tests.**", "app.missing:f", "scripts"),
    )
    assert list(contract.empty_patterns(small)) == [
        "app.gone",
        "!app.none",
        "app.lost",
        "app.pkg.Other",
        "*.nix",
        "!app.no",
        "app.missing:f",
    ]
