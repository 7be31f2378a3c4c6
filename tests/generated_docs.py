"""Makes those parts of the documentation that the code holds: `python tests/generated_docs.py` writes them.

Such a part stands in a Markdown file between `<!-- made of the code: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from layerguard.config.declarations import Registry
from layerguard.config.settings import Settings
from layerguard.contracts import KINDS
from layerguard.contracts.base import Contract
from layerguard.explain import explain
from layerguard.model import CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT = Path(__file__).parent.parent

_PART = re.compile(r"(?<=<!-- made of the code: )([a-z-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
_TYPES = {"string": "a text", "array": "a list of texts", "boolean": "true or false", "integer": "a number"}


def documents() -> list[Path]:
    """Return the Markdown files that people read."""
    return [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]


def made_anew(text: str) -> str:
    """Return the text of a Markdown file with its made parts as the code has them now."""
    return _PART.sub(lambda part: f"{part[1]}{part[2]}\n{PARTS[part[1]]().strip()}\n\n", text)


def _table_of_kinds(link: str) -> str:
    rows = [
        f"| [`{name}`]({link}#{name}) | {kind.code} | {(inspect.getdoc(kind) or '').partition(chr(10))[0]} |"
        for name, kind in KINDS.items()
    ]
    return "\n".join(["| kind | code | the promise |", "|---|---|---|", *rows])


def _kinds() -> str:
    return "\n\n".join(
        f"## {name}\n\nCode: {kind.code}. Counted by default: `via = {json.dumps(kind.default_via)}`.\n\n"
        f"{inspect.getdoc(kind)}"
        for name, kind in KINDS.items()
    )


def _keys(table: type[msgspec.Struct]) -> str:
    return "\n".join(_key(name, field) for name, field in _schema(table).items())


def _key(name: str, field: dict[str, Any]) -> str:
    kinds = [each["type"] for each in field.get("anyOf", [field])]
    what = " or ".join(_TYPES[kind] for kind in kinds if kind != "null")
    if "default" not in field:
        what += ", required"
    elif field["default"] is not None:
        what += f", default `{json.dumps(field['default'])}`"
    return f"- `{name}` ({what}): {field['description']}"


def _schema(table: type[msgspec.Struct]) -> dict[str, dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = msgspec.json.schema(table)["$defs"][table.__name__]["properties"]
    return fields


def _codes() -> str:
    rows = [f"| {code} | {meaning} |" for code, meaning in CODES.items()]
    texts = [re.sub(r"^", "### ", explain(code)).strip() for code in CODES if not code.startswith("LG1")]
    return "\n".join(["| code | meaning |", "|---|---|", *rows]) + "\n\n" + "\n\n".join(texts)


PARTS: dict[str, Callable[[], str]] = {
    "kinds": _kinds,
    "table-of-kinds": lambda: _table_of_kinds("contracts.md"),
    "table-of-kinds-for-the-readme": lambda: _table_of_kinds("docs/contracts.md"),
    "settings": lambda: _keys(Settings),
    "registry": lambda: _keys(Registry),
    "codes": _codes,
}
"""What can be made: a function for each name."""


def common_keys() -> Iterator[tuple[str, str]]:
    """Yield the keys that every contract has, each with its default as TOML writes it."""
    for field in msgspec.structs.fields(Contract):
        value = None if field.default is msgspec.NODEFAULT else field.default
        yield field.encode_name, "" if value is None else json.dumps(value)


if __name__ == "__main__":
    for path in documents():
        path.write_text(made_anew(path.read_text(encoding="utf-8")), encoding="utf-8")
