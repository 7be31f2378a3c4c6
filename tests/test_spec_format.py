"""The specs themselves must not pass in silence: whatever differs from them fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from spec import File, Run, SpecError, read_spec, run_section

FOUND = {
    "code": "LG103", "contract": "ab", "path": "app/a.py", "line": 2, "column": 8,
    "imported": "app.b", "scope": "", "allowed": False,
}  # fmt: skip
GOOD = """# Title

## One

`app/a.py`:

```python
import os
import app.b  # LG103:8 [ab] app.b scope=
```
"""


def fake(*violations: dict[str, object], status: int = 1) -> Callable[[], int]:
    def main() -> int:
        report = {"violations": violations, "summary": {"files": 1}}
        print(json.dumps(report) if "json" in sys.argv else "removed 1, kept 0")  # noqa: T201
        print("a note", file=sys.stderr)  # noqa: T201
        return status

    return main


@pytest.fixture(name="run")
def _run(tmp_path: Path) -> Callable[[str, Callable[[], int]], Path]:
    def run(text: str, main: Callable[[], int]) -> Path:
        path = tmp_path / "x.md"
        path.write_text(text, encoding="utf-8")
        root = tmp_path / "root"
        root.mkdir()
        for section in read_spec(path):
            run_section(section, root, main)
        return root

    return run


Runner = Callable[[str, Callable[[], int]], Path]


def test_holds_and_writes_the_file_without_its_mark(run: Runner) -> None:
    root = run(GOOD, fake(FOUND))
    assert (root / "app/a.py").read_bytes() == b"import os\nimport app.b\n"


def test_an_allowed_violation_is_none(run: Runner) -> None:
    run(GOOD, fake(FOUND, {**FOUND, "allowed": True}))


@pytest.mark.parametrize(
    "main",
    [
        pytest.param(fake(), id="missing"),
        pytest.param(fake(FOUND, {**FOUND, "line": 1}), id="unexpected"),
        pytest.param(fake(FOUND, FOUND), id="twice"),
        pytest.param(fake({**FOUND, "column": 9}), id="column"),
        pytest.param(fake({**FOUND, "line": 1}), id="line"),
        pytest.param(fake({**FOUND, "code": "LG104"}), id="code"),
        pytest.param(fake({**FOUND, "contract": "ba"}), id="contract"),
        pytest.param(fake({**FOUND, "imported": "app"}), id="imported"),
        pytest.param(fake({**FOUND, "scope": "f"}), id="field"),
        pytest.param(fake({**FOUND, "allowed": True}), id="allowed"),
        pytest.param(fake(FOUND, status=0), id="exit"),
    ],
)
def test_a_report_that_differs_fails(run: Runner, main: Callable[[], int]) -> None:
    with pytest.raises(AssertionError):
        run(GOOD, main)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("## One\n\n```python\nx\n```\n", "x.md:3: a block 'python' without the name"),
        ("## One\n\n`a.py`:\n\nmore\n\n```python\nx\n```\n", "x.md: this belongs to no block"),
        ("## One\n\n`a.py`:\n\n```python encodnig=latin-1\n```\n", "x.md:3: unknown option"),
        (
            "## One\n\n`a.py`:\n\n```python\nx\n",
            "x.md: this belongs to no block, or its block has no end: '`a.py`:'",
        ),
        ("## One\n\n`a.py`:\n\n```python\nx  # LG103 8 app.b\n```\n", "x.md:3: neither a mark"),
        (
            "## One\n\n`a.py`:\n\n```python\nx  # LG103:8 app.b app.c\n```\n",
            "x.md:3: two values of 'imported'",
        ),
        ("## One\n\n```expect\na.py:1: LG103\n```\n", "x.md:3: neither a mark"),
        (
            "## One\n\n```console\n$ layerguard check\nprint x\n```\n",
            "x.md:3: no line of a console: 'print x'",
        ),
        ("## One\n\n```console\nexit 1\n```\n", "x.md:3: no line of a console: 'exit 1'"),
        ("## One\n\nNothing.\n", "x.md: section 'One' says nothing"),
        ("## One\n\n```tree\na.py\n```\n\n## One\n\n```tree\nb.py\n```\n", "x.md: a second section 'One'"),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as raised:
        read_spec(path)
    assert str(raised.value).startswith(reason)


def test_reads_every_kind_of_block(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    text = r"""<!-- xfail: all of it -->
```tree
a.py
b.py -> a.py
```

## One

<!-- xfail: this one -->

```toml
[[contract]]  # LG301:* [x]
```

`c.py`:

````python encoding=latin-1 escapes
é\ufeff\r\x00\n
```
````

## Two

```console
$ cd sub && CI=1 layerguard check a.py
exit 2
prints 'a b'
```

```expect
a b.py:*:3: LG401
```

`c.py` is now:

```python
x
```
"""
    path.write_text(text.replace("\\ufeff", ""), encoding="utf-8")
    one, two = read_spec(path)
    shared = [File("a.py"), File("b.py", link="a.py")]
    assert (one.title, one.xfail) == ("One", "this one")
    assert one.steps == [
        *shared,
        File(
            "layerguard.toml",
            b"[[contract]]\n",
            marks=({"path": "layerguard.toml", "line": 1, "code": "LG301", "contract": "x"},),
        ),
        File("c.py", b"\xe9\r\x00\\n\n```\n"),
        Run(["layerguard", "check"]),
    ]
    assert (two.title, two.xfail) == ("Two", "all of it")
    assert two.steps == [
        *shared,
        Run(
            ["layerguard", "check", "a.py"],
            folder="sub",
            environment={"CI": "1"},
            exit="2",
            texts=[("prints", "'a b'")],
            expected=[{"path": "a b.py", "column": 3, "code": "LG401"}],
        ),
        File("c.py", b"x\n", now=True),
    ]


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        ("prints removed 1", True),
        ("prints a note", True),
        ("prints removed 2", False),
        ("prints-line removed 1, kept 0", True),
        ("prints-line removed 1", False),
        ("never-prints kept 1", True),
        ("never-prints kept 0", False),
        ("exit 1", False),
        ("exit *", True),
        ("summary files=1", False),
    ],
)
def test_what_a_command_does(run: Runner, lines: str, holds: bool) -> None:
    text = f"## One\n\n```console\n$ layerguard ratchet\n{lines}\n```\n"
    if holds:
        run(text, fake(status=0))
    else:
        with pytest.raises(AssertionError):
            run(text, fake(status=0))


@pytest.mark.parametrize(
    ("summary", "holds"),
    [("files=1", True), ("files=2", False), ("fingerprints=0", True), ("fingerprints=1", False)],
)
def test_summary(run: Runner, summary: str, holds: bool) -> None:
    text = f"## One\n\n```console\n$ layerguard check\nsummary {summary}\n```\n"
    if holds:
        run(text, fake(status=0))
    else:
        with pytest.raises(AssertionError):
            run(text, fake(status=0))


@pytest.mark.parametrize(("chain", "holds"), [("a.py:1 b.py:2", True), ("a.py:1", False), ("", False)])
def test_a_chain_is_its_places(run: Runner, chain: str, holds: bool) -> None:
    steps = [{"path": "a.py", "line": 1, "imported": "b"}, {"path": "b.py", "line": 2, "imported": "c"}]
    text = GOOD.replace("scope=", f"chain='{chain}'")
    if holds:
        run(text, fake({**FOUND, "chain": steps}))
    else:
        with pytest.raises(AssertionError, match="missing"):
            run(text, fake({**FOUND, "chain": steps}))


def test_fingerprints_are_those_of_all_runs(run: Runner) -> None:
    """The same two again are two still; what has another fingerprint is another violation."""
    two = "  # LG103:8 # LG103:8"
    text = (
        GOOD.replace("  # LG103:8 [ab] app.b scope=", two)
        + "\n```console\n$ layerguard check\nsummary {}\n```\n"
    )
    found = [{**FOUND, "fingerprint": "x"}, {**FOUND, "fingerprint": "y"}]
    run(text.format("fingerprints=2\n$ layerguard check\nsummary fingerprints=2"), fake(*found))


def test_a_report_out_of_order_fails(run: Runner) -> None:
    text = GOOD.replace("import os", "import app.c  # LG103:8")
    with pytest.raises(AssertionError, match="LG103"):
        run(text, fake(FOUND, {**FOUND, "line": 1}))


def test_steps_follow_each_other(run: Runner) -> None:
    """A file that is removed takes its marks along, and an `expect` block stands for one run only."""
    text = (
        GOOD
        + """
```console
$ layerguard check
$ rm app/a.py
$ layerguard check
exit 1
```

```expect
app/a.py:2:8: LG103
```
"""
    )
    root = run(text, fake(FOUND))
    assert not (root / "app/a.py").exists()


def test_a_file_that_differs_fails(run: Runner) -> None:
    with pytest.raises(AssertionError, match=r"app/a\.py"):
        run(GOOD + "\n`app/a.py` is now:\n\n```python\nimport os\n```\n", fake(FOUND))


def test_files_after_the_last_command_are_checked(run: Runner) -> None:
    text = GOOD + "\n```console\n$ layerguard check\n```\n\n`app/a.py`:\n\n```python\nimport os\n```\n"
    with pytest.raises(AssertionError, match=r"unexpected"):
        run(text, fake(FOUND))
