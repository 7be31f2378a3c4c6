"""Reads CODEOWNERS, as GitHub and GitLab do: who owns a file."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from layerguard.regex import regex
from layerguard.toml import read_bytes

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
_SECTION = regex(r"\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?")
_WORD = regex(r"(?:\\.|[^\s\\])+")


class Rule(msgspec.Struct, frozen=True):
    """A pattern of paths and who owns them; one that `excludes` takes them out of its section."""

    pattern: re.Pattern[str]
    owners: tuple[str, ...]
    excludes: bool = False


class Owners(msgspec.Struct, frozen=True):
    """A CODEOWNERS file: its path, and its sections, each with its rules. GitHub knows only one section."""

    path: str
    sections: tuple[tuple[Rule, ...], ...]

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file (its path is relative to the repository's top), none where it has none.

        In each section the last rule that matches decides; the sections' owners come together.
        """
        found: dict[str, None] = {}
        for rules in self.sections:
            if any(rule.excludes and rule.pattern.fullmatch(path) for rule in rules):
                continue
            matching = (rule for rule in reversed(rules) if rule.pattern.fullmatch(path))
            last = next(matching, None)
            found |= dict.fromkeys(last.owners if last else ())
        return tuple(found)


def find_owners(top: Path) -> Owners | None:
    """Read the first CODEOWNERS file of a repository; None where it has none.

    Raises UserError when it cannot be read.
    """
    for path in PLACES:
        if (top / path).is_file():
            text = read_bytes(top / path, path).decode("utf-8-sig", "replace")
            return parse_owners(text, path)
    return None


def parse_owners(text: str, path: str) -> Owners:
    """Read the text of a CODEOWNERS file.

    A file in `.gitlab`, or with sections outside of `.github`, is GitLab's: there a pattern without a leading
    slash matches in every folder, only one with a slash at its end means what is below, and `!` excludes. The
    others are GitHub's: gitignore patterns without `!`. A `[…]` stands for itself in both.
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    gitlab = path.startswith(".gitlab/") or (
        not path.startswith(".github/") and any(_SECTION.fullmatch(line) for line in lines)
    )
    sections: dict[str, list[Rule]] = {"": []}
    section, default = "", ()  # type: str, tuple[str, ...]
    for line in lines:
        header = _SECTION.fullmatch(line) if gitlab else None
        if header:
            section, default = header[1].strip().lower(), _owners(_WORD.findall(header[2] or ""))
            sections.setdefault(section, [])
            continue
        pattern, *words = _WORD.findall(line) or [""]
        excludes = pattern.startswith("!")
        if not pattern or (excludes and not gitlab):
            continue  # GitHub skips what it does not understand
        regex = _compile(pattern.removeprefix("!"), gitlab=gitlab)
        sections[section].append(Rule(regex, _owners(words) or default, excludes))
    return Owners(path, tuple(tuple(rules) for rules in sections.values()))


def _owners(words: list[str]) -> tuple[str, ...]:
    comment = next((number for number, word in enumerate(words) if word.startswith("#")), len(words))
    return tuple(words[:comment])


def _compile(pattern: str, *, gitlab: bool) -> re.Pattern[str]:
    """Return the pattern as one of whole paths, which have no leading slash."""
    parts = pattern.removeprefix("/").split("/")
    anchored = pattern.startswith("/") or (not gitlab and "/" in pattern.rstrip("/"))
    if not anchored and parts[0] != "**":
        parts.insert(0, "**")
    if parts[-1] == "":
        parts[-1] = "**"
    *folders, last = parts
    text = "".join("(?:[^/]+/)*" if part == "**" else f"{_component(part)}/" for part in folders)
    if last == "**":
        return re.compile(f"{text}.+", re.DOTALL)
    # A folder's name means what is in it, but `docs/*` only the files there.
    below = "" if gitlab or (last == "*" and anchored) else "(?:/.*)?"
    return re.compile(text + _component(last) + below, re.DOTALL)


def _component(text: str) -> str:
    """Return one component of a pattern as a regular expression."""
    wild = {"*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"\\.|\*+|.", text, re.DOTALL)
    return "".join(wild.get(token[0], "") or re.escape(token[-1]) for token in tokens)
