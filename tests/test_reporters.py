"""Every format on one shared report, held to golden files; `python tests/test_reporters.py` rewrites them."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from layerguard.contracts import KINDS
from layerguard.model import (
    CODES,
    ContractResult,
    Location,
    Report,
    Step,
    Summary,
    Violation,
    fingerprint,
)
from layerguard.reporters import REPORTERS

GOLDEN = Path(__file__).parent / "reports"
FORMATS = sorted(REPORTERS)
ENDINGS = {"json": "json", "gitlab": "json", "sarif": "json", "junit": "xml"}
ROLE = "Endpoint packages load by role."
NONE = Summary(
    files=0, analysed=0, modules=0, imports=0, contracts=0, kept=0, broken=0, violations=0, allowed=0, stale=0
)


def at(path: str, line: int, column: int, end_column: int, end_line: int = 0) -> Location:
    return Location(path, line, column, end_line or line, end_column)


def make(code: str, message: str, location: Location, **fields: Any) -> Violation:  # noqa: ANN401
    violation = Violation(code=code, message=message, location=location, **fields)
    return replace(violation, fingerprint=fingerprint(violation, 0))


def imports(
    code: str,
    contract: str,
    importer: str,
    imported: str,
    location: Location,
    **fields: Any,  # noqa: ANN401
) -> Violation:
    scope = fields.get("scope", "")
    key = f"{importer}{':' * bool(scope)}{scope} -> {imported}"
    known = {"via": "import", "when": "load", "key": key, "message": f"{importer} imports {imported}"}
    return make(
        code, location=location, contract=contract, importer=importer, imported=imported, **(known | fields)
    )


def sample() -> Report:
    """Return a report with every code, and with everything that is hard to print."""
    violations = (
        imports(
            "LG103",
            "endpoints",
            "app.api.ops.system",
            "app.api.images.codec",
            at("app/api/ops/system.py", 12, 32, 37),
            scope="Ops.health",
            when="deferred",
            because=ROLE,
            hint="Put what both need into app.base.",
            excerpt="    from app.api.images import codec",
        ),
        imports(
            "LG103",
            "endpoints",
            "app.adapters",
            "app.models.special",
            at("app/adapters.py", 2, 28, 35),
            scope="f",
            chain=(
                Step("app.models.m1", "app.loader", "app/models/m1.py", 1),
                Step("app.loader", "app.adapters", "app/loader.py", 1),
                Step("app.adapters", "app.models.special", "app/adapters.py", 2),
            ),
            sources=3,
            because=ROLE,
            excerpt="    from app.models import special\n",
        ),
        imports(
            "LG102",
            "light",
            "app.b",
            "app.heavy.m",
            at("app/b/__init__.py", 1, 8, 19),
            chain=(
                Step("app.a.m", "app.a", "app/a/m.py", 1, as_parent=True, named="app.a.m"),
                Step("app.a.m", "app.b", "app/a/m.py", 1, as_parent=True, named="app.b.u"),
                Step("app.b", "app.heavy.m", "app/b/__init__.py", 1),
            ),
            sources=1,
            excerpt="import app.heavy.m",
        ),
        imports(
            "LG101",
            "layers",
            "app.größe",
            "app.日本",
            at("app/größe.py", 7, 23, 25),
            because='Core [internal] stays [/arch] inside: 100 % of it.\nAsk, first; <then> & "how".\n',
            excerpt='\t"日本語"; from app import 日本',
        ),
        imports(
            "LG104",
            "layers",
            "tests.test_images",
            "app.images",
            at("tests/test_images.py", 300, 7, 9, end_line=302),
            via="string",
            when="typing",
            severity="warning",
            excerpt="patch('''app.images.",
        ),
        imports(
            "LG105",
            "circles",
            "app.x",
            "app.y",
            at("app/x.py", 1, 8, 13),
            allowed=True,
            because="No circles.",
            excerpt="import app.y",
        ),
        imports("LG106", "circles", "app.x", "app._y", at("app/x.py", 2, 8, 14), via="dynamic"),
        imports(
            "LG107",
            "removed",
            "docs/serve, 50%: über.md",
            "app.old",
            at("docs/serve, 50%: über.md", 3, 201, 208),
            via="text",
            message="docs/serve, 50%: über.md names app.old, now app.new",
            excerpt="w" * 200 + "app.old" + "x" * 200,
        ),
        imports("LG108", "removed", "app.z", "app.gone", at("app/z.py", 1, 1, 1), allowed=True),
        make(
            "LG201",
            "'app.q -> app.r' is no longer needed",
            at("contracts/allowances.toml", 5, 1, 23),
            contract="endpoints",
            excerpt='"app.q -> app.r" = {}',
        ),
        make(
            "LG202",
            "'app.q -> app.s' was added since 1a2b3c4",
            at("contracts/allowances.toml", 6, 1, 1),
            contract="endpoints",
        ),
        make(
            "LG203",
            "no contract is called 'nome'",
            at("contracts/allowances.toml", 9, 8, 12),
            contract="nome",
        ),
        make("LG301", "'app.nothing' matches no module", at("layerguard.toml", 4, 6, 12), contract="light"),
        make("LG302", "'app.dead' was removed, but exists", at("app/dead.py", 1, 1, 1), contract="removed"),
        make(
            "LG401",
            "the file could not be analysed: \x1b[31mnull\x00 byte\n::error::forged\u202e",
            at("odd\udcff\n/a.py", 1, 4, 4),
            excerpt="x = \x1b]0;title\x07\x00",
        ),
    )
    counted = [v for v in violations if not v.allowed and v.severity == "error"]
    broken = {v.contract for v in counted}
    kinds = {
        "endpoints": "independence",
        "light": "forbidden",
        "layers": "layers",
        "circles": "acyclic",
        "removed": "removed",
        "quiet": "private",
        "silent": "existing",
    }
    results = tuple(
        ContractResult(
            id=name,
            kind=kind,
            kept=name not in broken,
            violations=sum(v.contract == name for v in counted),
            allowed=sum(v.contract == name and v.allowed for v in violations),
        )
        for name, kind in kinds.items()
    )
    summary = Summary(
        files=1610,
        analysed=1609,
        modules=1609,
        imports=11204,
        contracts=7,
        kept=2,
        broken=5,
        violations=len(counted),
        allowed=2,
        stale=1,
    )
    return Report(
        summary=summary,
        contracts=results,
        violations=tuple(sorted(violations, key=lambda v: v.order)),
        base="1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
        allowed_before=4,
        notes=("Contract 'light' looks at less than at 1a2b3c4.",),
    )


def rendered(name: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        # The help of a rule is a docstring and may change; a test below looks at the real ones.
        patch.setattr("layerguard.reporters.sarif.KINDS", {})
        patch.setattr("layerguard.reporters.sarif.__version__", "1.2.3")
        return REPORTERS[name](sample())


def golden(name: str) -> Path:
    return GOLDEN / f"{name}.{ENDINGS.get(name, 'txt')}"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_as_its_golden_file(name: str) -> None:
    assert rendered(name).encode("utf-8") == golden(name).read_bytes()
    assert rendered(name) == rendered(name)


def test_the_sample_has_every_code() -> None:
    report = sample()
    assert {v.code for v in report.violations} == set(CODES)
    assert {path.name for path in GOLDEN.iterdir()} == {golden(name).name for name in REPORTERS}


# full and concise


def one(violation: Violation) -> Report:
    return Report(
        summary=replace(NONE, files=1, analysed=1, imports=1, contracts=1, broken=1, violations=1),
        contracts=(ContractResult(id="endpoints", kind="independence", kept=False, violations=1, allowed=0),),
        violations=(violation,),
    )


def test_full_has_the_look_of_ruff() -> None:
    violation = next(v for v in sample().violations if v.location.line == 12)
    assert REPORTERS["full"](one(violation)) == (
        "app/api/ops/system.py:12:32: LG103 [endpoints] app.api.ops.system imports app.api.images.codec\n"
        "   |\n"
        "12 |     from app.api.images import codec\n"
        "   |                                ^^^^^\n"
        "   = because: Endpoint packages load by role.\n"
        "   = hint: Put what both need into app.base.\n"
        "\n"
        "Found 1 violation: 1 of 1 contracts broken, 0 allowed. 1 of 1 file, 1 import.\n"
    )


def frame(excerpt: str, column: int, end_column: int, end_line: int = 1) -> list[str]:
    violation = make("LG101", "m", at("a.py", 1, column, end_column, end_line), excerpt=excerpt)
    lines = REPORTERS["full"](one(violation)).splitlines()
    return [line.removeprefix("1 | ").removeprefix("  | ") for line in lines[2:4]]


@pytest.mark.parametrize(
    ("excerpt", "columns", "expected"),
    [
        ("\timport a", (9, 10), ["    import a", "           ^"]),
        ("import\ta", (7, 9), ["import    a", "      ^^^^^"]),
        ("'日本'; import a", (14, 15), ["'日本'; import a", "               ^"]),
        ("import 日本", (8, 10), ["import 日本", "       ^^^^"]),
        ("'e\u0301'; import a", (14, 15), ["'e\u0301'; import a", "            ^"]),
        ("'é'; import a", (13, 14), ["'é'; import a", "            ^"]),
        ("\x1b[2J; import a\r\n", (14, 15), ["␛[2J; import a", "             ^"]),
        ("\x7f\x9b\u202e import a", (12, 13), ["␡\ufffd\ufffd import a", "           ^"]),
        ("x = (", (9, 12), ["x = (", "     ^"]),
        ("import a", (8, 8), ["import a", "       ^"]),
    ],
)
def test_carets_stand_under_the_place(excerpt: str, columns: tuple[int, int], expected: list[str]) -> None:
    assert frame(excerpt, *columns) == expected


def test_carets_end_with_the_first_line_of_the_place() -> None:
    assert frame("from a import (  \n", 6, 2, end_line=3) == ["from a import (", "     ^^^^^^^^^^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    assert frame("x" * 120, 120, 121) == ["x" * 120, " " * 119 + "^"]
    assert frame("a" + "x" * 120, 1, 2) == ["a" + "x" * 119 + "…", "^"]
    assert frame("x" * 120 + "a", 121, 122) == ["…" + "x" * 119 + "a", " " * 120 + "^"]
    middle = "x" * 500 + "here" + "x" * 500
    assert frame(middle, 501, 505) == ["…" + "x" * 40 + "here" + "x" * 76 + "…", " " * 41 + "^^^^"]
    assert frame(middle, 501, 900) == ["…" + "x" * 40 + "here" + "x" * 76 + "…", " " * 41 + "^" * 80]


@pytest.mark.parametrize("excerpt", ["", "  \n"])
def test_nothing_to_show_makes_no_frame(excerpt: str) -> None:
    violation = make("LG401", "m", at("a.py", 10, 1, 1), excerpt=excerpt, hint="h")
    assert REPORTERS["full"](one(violation)).splitlines()[:2] == ["a.py:10:1: LG401 m", "   = hint: h"]


@pytest.mark.parametrize(
    ("steps", "sources", "expected"),
    [
        ([Step("a", "b", "a.py", 1)], 0, []),
        ([Step("a", "b", "a.py", 1)], 1, []),
        ([Step("a", "b", "a.py", 1)], 2, ["  = sources: 2 reach it"]),
        (
            [Step("a.m", "a", "", 0, as_parent=True, named="a.m"), Step("a", "b", "a/__init__.py", 4)],
            1,
            [
                "  = chain: a.m loads a as parent of a.m",
                "           a imports b (a/__init__.py:4)",
            ],
        ),
        (
            [Step("a", "b", "a.py", 1, as_parent=True, named="b.c")],
            0,
            ["  = chain: a imports b.c, which loads b as parent of b.c (a.py:1)"],
        ),
    ],
)
def test_chains_are_told_where_they_say_more(steps: list[Step], sources: int, expected: list[str]) -> None:
    violation = make("LG101", "m", at("a.py", 1, 1, 1), chain=tuple(steps), sources=sources)
    assert REPORTERS["full"](one(violation)).splitlines()[1:-2] == expected


def test_names_come_out_verbatim_on_one_line() -> None:
    name = "app." + "very_long_" * 30 + "[/red]"
    violation = make("LG104", f"{name} imports app.é", at("a b/é.py", 1, 2, 3), contract="x")
    first = f"a b/é.py:1:2: LG104 [x] {name} imports app.é"
    assert REPORTERS["concise"](one(violation)).splitlines()[0] == first
    assert REPORTERS["full"](one(violation)).splitlines()[0] == first


@pytest.mark.parametrize("name", ["full", "concise"])
def test_colour_adds_escapes_and_nothing_else(name: str) -> None:
    coloured = REPORTERS[name](sample(), colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == REPORTERS[name](sample())
    assert "\x1b[1;31mLG103\x1b[0m [endpoints]" in coloured
    assert "\x1b[1;33mLG104\x1b[0m [layers] warning:" in coloured
    assert "\x1b[2mLG105\x1b[0m [circles]" in coloured


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"full", "concise"}))
def test_formats_for_machines_have_no_colour(name: str) -> None:
    assert REPORTERS[name](sample(), colour=True) == REPORTERS[name](sample())


ERROR = make("LG101", "m", at("a.py", 1, 1, 1))
WARNING = replace(ERROR, severity="warning")
ALLOWED = replace(ERROR, allowed=True)


@pytest.mark.parametrize(
    ("violations", "broken", "expected"),
    [
        ((), 0, "All 7 contracts kept, 12 allowed."),
        ((ALLOWED,), 0, "All 7 contracts kept, 12 allowed."),
        ((ERROR,), 1, "Found 1 violation: 1 of 7 contracts broken, 12 allowed."),
        ((ERROR, ERROR, ALLOWED), 2, "Found 2 violations: 2 of 7 contracts broken, 12 allowed."),
        ((WARNING,), 0, "Found 1 warning: 0 of 7 contracts broken, 12 allowed."),
        (
            (ERROR, ERROR, ERROR, WARNING),
            2,
            "Found 3 violations and 1 warning: 2 of 7 contracts broken, 12 allowed.",
        ),
    ],
)
def test_the_summary_counts_what_was_found(
    violations: tuple[Violation, ...], broken: int, expected: str
) -> None:
    summary = replace(NONE, files=1610, analysed=1610, imports=2, contracts=7, broken=broken, allowed=12)
    report = Report(summary=summary, contracts=(), violations=violations)
    assert REPORTERS["full"](report).splitlines()[-1] == f"{expected} 1610 of 1610 files, 2 imports."


@pytest.mark.parametrize(
    ("base", "before", "expected"),
    [
        ("", 14, "12 allowed"),
        ("main", None, "12 allowed"),
        ("1a2b3c4", 14, "12 allowed (2 fewer than at 1a2b3c4)"),
        ("origin/release-2", 12, "12 allowed (the same as at origin/release-2)"),
        ("1a2b3c4d" * 5, 10, "12 allowed (2 more than at 1a2b3c4)"),
    ],
)
def test_the_summary_names_the_base(base: str, before: int | None, expected: str) -> None:
    summary = replace(NONE, files=3, analysed=2, contracts=1, kept=1, allowed=12)
    report = Report(summary=summary, contracts=(), violations=(), base=base, allowed_before=before)
    assert REPORTERS["full"](report) == f"1 contract kept, {expected}. 2 of 3 files, 0 imports.\n"


# json


def schema() -> dict[str, Any]:
    text = (files("layerguard") / "schemas" / "report.schema.json").read_text("utf-8")
    known: dict[str, Any] = json.loads(text)
    return known


def test_json_obeys_its_schema_and_has_every_key_in_order() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    document = json.loads(REPORTERS["json"](sample()))
    jsonschema.validate(document, schema(), jsonschema.Draft202012Validator)
    known = schema()
    assert list(document) == list(known["properties"])
    for name in ("summary", "contract", "violation", "step"):
        assert known["$defs"][name]["additionalProperties"] is False
    assert list(document["summary"]) == list(known["$defs"]["summary"]["properties"])
    for violation in document["violations"]:
        assert list(violation) == list(known["$defs"]["violation"]["properties"])


def test_the_schema_refuses_what_it_does_not_know() -> None:
    document = json.loads(REPORTERS["json"](sample()))
    changes: list[dict[str, object]] = [{"version": 2}, {"extra": 1}, {"violations": [{}]}, {"base": ""}]
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document | change, schema(), jsonschema.Draft202012Validator)


def test_json_has_null_where_a_field_has_no_meaning() -> None:
    document = json.loads(REPORTERS["json"](one(make("LG401", "m", at("a.py", 1, 1, 1)))))
    (violation,) = document["violations"]
    nulls = {"contract", "importer", "scope", "imported", "via", "when", "because", "hint"}
    assert {key for key, value in violation.items() if value is None} == nulls
    assert document["base"] is None
    (violation,) = json.loads(REPORTERS["json"](one(imports("LG101", "c", "a", "b", at("a.py", 1, 1, 1)))))[
        "violations"
    ]
    assert {key for key, value in violation.items() if value is None} == {"because", "hint"}
    assert violation["scope"] == ""


# github, gitlab, sarif, junit


def test_github_commands_escape_what_would_end_them() -> None:
    violation = make(
        "LG101",
        "a:b, 100%\r",
        at("a,b:c%d.py", 2, 3, 5),
        contract="x",
        because="one\ntwo",
        severity="warning",
    )
    assert REPORTERS["github"](one(violation)).splitlines()[0] == (
        "::warning file=a%2Cb%3Ac%25d.py,line=2,col=3,endLine=2,endColumn=5,title=LG101 [x]"
        "::a:b, 100%25␍%0Abecause: one%0A         two"
    )


def test_github_gets_no_columns_for_several_lines() -> None:
    violation = make("LG401", "m", at("a.py", 2, 3, 5, end_line=4), allowed=True)
    assert REPORTERS["github"](one(violation)).splitlines()[0] == (
        "::notice file=a.py,line=2,endLine=4,title=LG401::m"
    )


def test_gitlab_tells_severities_apart() -> None:
    issues = json.loads(REPORTERS["gitlab"](replace(one(ERROR), violations=(ERROR, WARNING, ALLOWED))))
    assert [issue["severity"] for issue in issues] == ["major", "minor", "info"]
    assert issues[0]["fingerprint"] == ERROR.fingerprint
    assert issues[0]["location"] == {"path": "a.py", "lines": {"begin": 1, "end": 1}}


def test_sarif_helps_with_the_docstrings_of_the_kinds() -> None:
    (run,) = json.loads(REPORTERS["sarif"](sample()))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CODES)
    helps = {rule["id"]: rule for rule in rules}
    for kind in KINDS.values():
        assert helps[kind.code]["help"]["text"] == inspect.getdoc(kind)
        assert helps[kind.code]["shortDescription"]["text"] == (kind.__doc__ or "").splitlines()[0]


def test_sarif_suppresses_what_is_allowed_and_says_so_of_all() -> None:
    (run,) = json.loads(REPORTERS["sarif"](replace(one(ERROR), violations=(ERROR, ALLOWED))))["runs"]
    assert [len(result["suppressions"]) for result in run["results"]] == [0, 1]


def test_junit_has_a_test_for_each_contract_and_each_code_without_one() -> None:
    suites = ET.fromstring(REPORTERS["junit"](sample()).encode())  # noqa: S314 - our own text
    (suite,) = suites
    names = [case.get("name") for case in suite]
    assert names == [result.id for result in sample().contracts] + ["LG203", "LG401"]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["endpoints", "light", "layers", "circles", "removed", "LG203", "LG401"]
    assert (suite.get("tests"), suite.get("failures")) == ("9", "7")
    quiet = ET.fromstring(  # noqa: S314 - our own text
        REPORTERS["junit"](replace(one(ERROR), violations=(replace(WARNING, contract="endpoints"),))).encode()
    )
    assert quiet.get("failures") == "0"
    assert quiet.findtext(".//system-out") == "a.py:1:1: LG101 [endpoints] warning: m"


# every report


# Of the surrogates only the low ones that `os.fsdecode` makes: behind a high one they are a pair.
texts = st.text(max_size=12) | st.text(
    st.sampled_from("\x00\x1b\n\r\t\x0b\x1c\x85\u2028\u202e\udc80\udcff\ufffe\uffff%:,<>&\"']]日é"),
    max_size=12,
)
numbers = st.integers(1, 300)
steps = st.builds(Step, texts, texts, texts, numbers, as_parent=st.booleans(), named=texts)
odd_violations = st.builds(
    Violation,
    code=texts | st.sampled_from(list(CODES)),
    message=texts,
    location=st.builds(Location, texts, numbers, numbers, numbers, numbers),
    contract=texts,
    severity=st.sampled_from(["error", "warning"]),
    importer=texts,
    scope=texts,
    imported=texts,
    via=st.sampled_from(["", "import", "text"]),
    when=st.sampled_from(["", "load"]),
    chain=st.lists(steps, max_size=3).map(tuple),
    sources=st.integers(0, 3),
    because=texts,
    hint=texts,
    key=texts,
    allowed=st.booleans(),
    excerpt=texts | st.text(max_size=300),
    fingerprint=texts,
)
odd_results = st.builds(ContractResult, texts, texts, st.booleans(), st.integers(0), st.integers(0))
odd_reports = st.builds(
    Report,
    summary=st.just(NONE),
    contracts=st.lists(odd_results, max_size=2).map(tuple),
    violations=st.lists(odd_violations, max_size=3).map(tuple),
    base=texts,
    allowed_before=st.none() | st.integers(0),
    notes=st.lists(texts, max_size=2).map(tuple),
)


def nothing_odd(text: str) -> bool:
    """Tell whether a text has no control character but its line feeds, and can be encoded."""
    text.encode("utf-8")
    controls = {character for character in text if unicodedata.category(character) in {"Cc", "Zl", "Zp"}}
    return text.endswith("\n") and controls == {"\n"} and "\u202e" not in text


@given(odd_reports)
def test_odd_strings_break_no_format(report: Report) -> None:
    for reporter in REPORTERS.values():
        assert nothing_odd(reporter(report))
    assert len(REPORTERS["concise"](report).splitlines()) == len(report.violations) + 1
    commands = REPORTERS["github"](report).splitlines()
    assert sum(line.startswith("::") for line in commands) == len(report.violations) == len(commands) - 1
    document = json.loads(REPORTERS["json"](report))
    assert [v["message"] for v in document["violations"]] == [v.message for v in report.violations]
    assert [v["path"] for v in document["violations"]] == [v.location.path for v in report.violations]
    assert len(json.loads(REPORTERS["gitlab"](report))) == len(report.violations)
    assert len(json.loads(REPORTERS["sarif"](report))["runs"][0]["results"]) == len(report.violations)
    ET.fromstring(REPORTERS["junit"](report).encode())  # noqa: S314 - our own text


def test_a_run_imports_only_the_format_that_it_uses() -> None:
    program = (
        "import sys; from layerguard.reporters import REPORTERS\n"
        "def loaded(): return sorted(m for m in sys.modules if m.startswith('layerguard.reporters.'))\n"
        "print(loaded())\n"
        "from layerguard.model import Report, Summary\n"
        "REPORTERS['concise'](Report(Summary(*[0] * 10), (), ()))\n"
        "print(loaded())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['layerguard.reporters.base', 'layerguard.reporters.concise']"]


if __name__ == "__main__":
    for each in REPORTERS:
        golden(each).write_bytes(rendered(each).encode("utf-8"))
