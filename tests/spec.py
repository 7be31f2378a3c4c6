"""Literate specs: Markdown files that say what layerguard must report, and a runner that holds it to that.

Each `##` section of a file in `specs/` is one test in a fresh folder. Its fenced blocks are done from top
to bottom; files before the first `##` are written for every section. The blocks are:

- a file, named by the line before it (`` `app/a.py`: ``; a `toml` block without a name is `layerguard.toml`);
  `encoding=latin-1` or `escapes` (`\r`, `\f`, `\t`, `\x00`, `\ufeff` are decoded) may follow its language;
- a file named by `` `path` is now: `` must have exactly this text;
- `tree`: one empty file a line, or `path -> target`, a symbolic link;
- `console`: lines `$ [cd FOLDER && ] [NAME=value ] COMMAND` (`layerguard` or any other), each with lines that
  say what it does: `exit N` or `*`, `prints TEXT`, `prints-line TEXT`, `never-prints TEXT`, `summary key=1`
  (its `fingerprints` are how many different ones all runs so far have told);
- `expect`: what the last command reports, `path:line:column: CODE [contract] imported key=value` a line.

Violations are told where they stand, by a mark at the end of the line: `# CODE:column [contract] imported
key=value`. Marks are taken off before the file is written, so any file may have them. Code and column are
required (`*`, where the design gives no place); each `key=value` is a field of the JSON report, and
`chain='app/a.py:1 app/b.py:3'` the places of a chain.

`check` must report exactly the marks of all files as they were written last, or exactly the `expect` block if
there is one, in the order of a report, and exits with 1 when that is something. It runs at the end of a
section that ends with a file.
A comment `<!-- xfail: reason -->` says that a section, or (before the first `##`) a file, cannot hold yet.
"""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Fields = dict[str, str | int]

_PART = re.compile(
    r"^(?:## (?P<title>.+)|<!-- xfail: (?P<xfail>.+) -->"
    r"|(?:`(?P<path>[^`\n]+)`(?P<now> is now)?:\n+)?"
    r"(?P<fence>`{3,})(?P<info>.*)\n(?P<body>(?:.*\n)*?)(?P=fence))$",
    re.MULTILINE,
)
_STRAY = re.compile(r"^(?:```|`[^`]+`(?: is now)?:$).*", re.MULTILINE)
_MARK_START = re.compile(r"\s*#(?= ?LG\d)")
_WHAT = r"(?P<column>\d+|\*){}(?: (?P<rest>.+))?"
_MARK = re.compile(r" ?(?P<code>LG\d{3}):" + _WHAT.format(""))
_EXPECTED = re.compile(r"(?P<path>[^:]+):(?P<line>\d+|\*):" + _WHAT.format(r": (?P<code>LG\d{3})"))
_COMMAND = re.compile(r"\$ (?:cd (?P<folder>\S+) && )?(?P<words>.+)")
_ORDER = ("path", "line", "column", "code", "contract")
_DOES = {"exit", "summary", "prints", "prints-line", "never-prints"}
_ESCAPE = re.compile(r"\\(?:[rft]|x[0-9a-f]{2}|u[0-9a-f]{4})")


class SpecError(ValueError):
    """A spec that cannot be read; the message names file and line."""


@dataclass(frozen=True)
class File:
    """A file to write (a symbolic link, with `link`), or with `now` one that must be so by now."""

    path: str
    content: bytes = b""
    link: str = ""
    marks: tuple[Fields, ...] = ()
    now: bool = False


@dataclass
class Run:
    """A command and what it must do; `expected` replaces the marks."""

    words: list[str]
    folder: str = "."
    environment: dict[str, str] = field(default_factory=dict)
    exit: str = ""
    texts: list[tuple[str, str]] = field(default_factory=list)
    summary: dict[str, int] = field(default_factory=dict)
    expected: list[Fields] | None = None


@dataclass
class Section:
    """One test: its title, why it cannot hold yet (or ""), and its steps."""

    title: str
    xfail: str = ""
    steps: list[File | Run] = field(default_factory=list)


def read_spec(path: Path) -> list[Section]:
    """Return the sections of a spec file; raise SpecError where something in it has no meaning."""
    text = path.read_text(encoding="utf-8")
    sections = [shared := Section("")]
    if stray := _STRAY.search(_PART.sub(lambda part: "\n" * part[0].count("\n"), text)):
        raise SpecError(f"{path.name}: this belongs to no block, or its block has no end: {stray[0]!r}")
    for part in _PART.finditer(text):
        try:
            if part["title"]:
                sections.append(Section(part["title"], shared.xfail, list(shared.steps)))
            elif part["xfail"]:
                sections[-1].xfail = part["xfail"]
            else:
                _read_block(part, sections[-1].steps)
        except ValueError as error:
            raise SpecError(f"{path.name}:{text.count(chr(10), 0, part.start()) + 1}: {error}") from error
    for number, section in enumerate(sections[1:], start=1):
        if any(section.title == other.title for other in sections[:number]):
            raise SpecError(f"{path.name}: a second section {section.title!r}")
        if len(section.steps) == len(shared.steps):
            raise SpecError(f"{path.name}: section {section.title!r} says nothing")
        if isinstance(section.steps[-1], File) and not section.steps[-1].now:
            section.steps.append(Run(["layerguard", "check"]))
    return sections[1:]


def _read_block(part: re.Match[str], steps: list[File | Run]) -> None:
    kind, *options = part["info"].split() or [""]
    body = part["body"].split("\n")[:-1]
    if part["path"] or kind == "toml":
        steps.append(_read_file(part["path"] or "layerguard.toml", body, options, now=bool(part["now"])))
    elif kind == "tree":
        steps += [File(path, link=link) for path, _, link in (line.partition(" -> ") for line in body)]
    elif kind == "console":
        _read_console(body, steps)
    elif kind == "expect":
        if not (steps and isinstance(steps[-1], Run)):
            steps.append(Run(["layerguard", "check"]))
        steps[-1].expected = [_read_fields(_EXPECTED.fullmatch(line), line) for line in body]  # type: ignore[union-attr]
    else:
        raise ValueError(f"a block {kind!r} without the name of its file")


def _read_file(path: str, body: list[str], options: list[str], *, now: bool) -> File:
    texts, marks = [], []
    for number, line in enumerate(body, start=1):
        text, *found = _MARK_START.split(line)
        texts.append(text + "\n")
        marks += [Fields(path=path, line=number) | _read_fields(_MARK.fullmatch(m), line) for m in found]
    content, encoding = "".join(texts), "utf-8"
    for option in options:
        if option == "escapes":
            content = _ESCAPE.sub(lambda found: found[0].encode().decode("unicode_escape"), content)
        elif option.startswith("encoding="):
            encoding = option.removeprefix("encoding=")
        else:
            raise ValueError(f"unknown option {option!r} of a block")
    return File(path, content.encode(encoding), marks=tuple(marks), now=now)


def _read_fields(found: re.Match[str] | None, line: str) -> Fields:
    if found is None:
        raise ValueError(f"neither a mark nor a violation: {line!r}")
    values = {key: text for key, text in found.groupdict().items() if text != "*" and key != "rest"}
    for word in shlex.split(found["rest"] or ""):
        key, equals, text = word.partition("=")
        if not equals:
            key, text = ("contract", word.strip("[]")) if word.startswith("[") else ("imported", word)
        if key in values:
            raise ValueError(f"two values of {key!r}: {line!r}")
        values[key] = text
    return {key: int(text) if text.isdecimal() else text for key, text in values.items()}


def _read_console(body: list[str], steps: list[File | Run]) -> None:
    run: Run | None = None
    for line in body:
        if command := _COMMAND.fullmatch(line):
            run = Run(shlex.split(command["words"]), command["folder"] or ".")
            while "=" in run.words[0]:
                name, _, run.environment[name] = run.words.pop(0).partition("=")
            steps.append(run)
            continue
        word, _, text = line.partition(" ")
        if run is None or not text or word not in _DOES:
            raise ValueError(f"no line of a console: {line!r}")
        if word == "exit":
            run.exit = text
        elif word == "summary":
            run.summary = {key: int(value) for key, value in (part.split("=") for part in text.split())}
        else:
            run.texts.append((word, text))


def run_section(section: Section, root: Path, main: Callable[[], object]) -> None:
    """Do the steps of a section in the folder `root`; AssertionError tells of the first that differs."""
    marks: dict[str, tuple[Fields, ...]] = {}
    fingerprints: set[object] = set()
    for step in section.steps:
        if isinstance(step, Run):
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(root / step.folder)
                for name, value in step.environment.items():
                    patch.setenv(name, value)
                _run(step, main, [mark for found in marks.values() for mark in found], fingerprints)
            if step.words[0] == "rm":
                marks.pop(step.words[1], None)
        elif step.now:
            assert (root / step.path).read_bytes().decode() == step.content.decode(), step.path
        else:
            marks[step.path] = step.marks
            path = root / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(step.link) if step.link else path.write_bytes(step.content)


def _run(run: Run, main: Callable[[], object], marks: list[Fields], fingerprints: set[object]) -> None:
    program, *words = run.words
    if program != "layerguard":
        subprocess.run(run.words, check=True, capture_output=True)
        return
    has_report = words[0] == "check" and run.exit != "2" and "--output-format" not in words
    status, out, err = call(main, [*words, "--output-format", "json"] if has_report else words)
    said = f"$ {shlex.join(run.words)}\n{out}{err}"
    report = json.loads(out) if has_report else {"violations": [], "summary": {}}
    expected = run.expected if run.expected is not None else marks if has_report else []
    problems = compare(expected, report["violations"])
    assert not problems, "\n".join([*problems, said])
    order = [tuple(violation[key] for key in _ORDER) for violation in report["violations"]]
    assert order == sorted(order), said
    fingerprints |= {violation.get("fingerprint") for violation in report["violations"]}
    summary = report["summary"] | {"fingerprints": len(fingerprints)}
    assert summary | run.summary == summary, said
    assert (run.exit or str(int(bool(expected)))) in {"*", str(status)}, said
    for kind, text in run.texts:
        found = text in (out + err).splitlines() if kind == "prints-line" else text in out + err
        assert found == (kind != "never-prints"), f"{kind} {text}\n{said}"


def call(main: Callable[[], object], words: list[str]) -> tuple[int, str, str]:
    """Call layerguard's entry point as its console script does; return status, output, error output."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["layerguard", *words])
        with pytest.raises(SystemExit) as ended:
            sys.exit(main())  # type: ignore[arg-type]
    for stream in (out, err):
        stream.seek(0)
    return int(ended.value.code or 0), out.read(), err.read()


def compare(expected: list[Fields], found: list[dict[str, object]]) -> list[str]:
    """Return what is missing and what is unexpected in a JSON report, allowed ones aside."""
    rest = [_flatten(violation) for violation in found if not violation["allowed"]]
    problems = []
    for mark in sorted(expected, key=len, reverse=True):  # those that say most choose first
        hit = next((v for v in rest if all(v.get(key) == value for key, value in mark.items())), None)
        if hit is None:
            problems.append(f"missing: {mark}")
        else:
            rest.remove(hit)
    return problems + [f"unexpected: {violation}" for violation in rest]


def _flatten(violation: dict[str, object]) -> dict[str, object]:
    steps: list[dict[str, object]] = violation.get("chain") or []  # type: ignore[assignment]
    return violation | {"chain": " ".join(f"{step['path']}:{step['line']}" for step in steps)}
