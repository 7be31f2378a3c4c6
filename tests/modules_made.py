"""Python files made at random: nested blocks in every spelling, with imports and what only looks like one.

All of it is Python 3.11, so that `ast` can say what is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from module_pieces import (
    CONDITIONS,
    DEFINITIONS,
    ENDS,
    HANDLERS,
    HEADERS,
    IMPORTS,
    INDENTS,
    LOADS,
    OTHERS,
    PREAMBLES,
    SPACERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[st.SearchStrategy[str]], str]

_plain = st.one_of(
    st.sampled_from(IMPORTS), st.sampled_from(LOADS), st.sampled_from(OTHERS), st.sampled_from(IMPORTS)
)
_oneline = _plain.filter(lambda text: not text.startswith(("@", "#")))


def _body(draw: Draw, indent: str, depth: int) -> str:
    """Return what follows the colon of a block's header: a suite on its line, or an indented one."""
    if draw(st.sampled_from(["long", "long", "short"])) == "short":
        between = draw(st.sampled_from(["", " ", "  "]))
        return f":{between}{draw(_oneline)}{draw(st.sampled_from(ENDS))}\n"
    inner = indent + draw(st.sampled_from(INDENTS))
    return f":{draw(st.sampled_from(ENDS))}\n{_block(draw, inner, depth - 1)}"


def _block(draw: Draw, indent: str, depth: int) -> str:
    count = int(draw(st.sampled_from(["1", "2", "3"])))
    parts = [_statement(draw, indent, depth) for _ in range(count)]
    return "".join([*parts, f"{indent}pass\n"])


def _statement(draw: Draw, indent: str, depth: int) -> str:
    kinds = ["plain", "plain", *_COMPOUND] if depth else ["plain"]
    make = _COMPOUND.get(draw(st.sampled_from(kinds)), _simple)
    return f"{draw(st.sampled_from(SPACERS))}{indent}{make(draw, indent, depth)}"


def _simple(draw: Draw, indent: str, _depth: int) -> str:
    text = draw(_plain)
    if text.startswith("@"):
        return text.replace("\n", f"\n{indent}") + "\n"
    return f"{text}{draw(st.sampled_from(ENDS))}\n"


def _if(draw: Draw, indent: str, depth: int) -> str:
    text = f"if {draw(st.sampled_from(CONDITIONS))}{_body(draw, indent, depth)}"
    if draw(st.sampled_from(["", "elif"])):
        text += f"{indent}elif {draw(st.sampled_from(CONDITIONS[:-1]))}{_body(draw, indent, depth)}"
    return text + _else(draw, indent, depth)


def _else(draw: Draw, indent: str, depth: int) -> str:
    return f"{indent}else{_body(draw, indent, depth)}" if draw(st.sampled_from(["", "else"])) else ""


def _definition(draw: Draw, indent: str, depth: int) -> str:
    decorator = draw(st.sampled_from(["", "", f"@f('import no')\n{indent}", f"@property # no\n{indent}"]))
    return f"{decorator}{draw(st.sampled_from(DEFINITIONS))}{_body(draw, indent, depth)}"


def _match(draw: Draw, indent: str, depth: int) -> str:
    inner = indent + draw(st.sampled_from(INDENTS))
    text = f"match {draw(st.sampled_from(['x', '(x, y)', '{1: 2}', 'x[1:2]']))}:\n"
    patterns = ["1", "{'a': x}", "[x, *_] if y", "C(x=1) | None", "'import no'"]
    return f"{text}{inner}case {draw(st.sampled_from(patterns))}{_body(draw, inner, depth)}"


def _loop_or_with(draw: Draw, indent: str, depth: int) -> str:
    text = f"{draw(st.sampled_from(HEADERS))}{_body(draw, indent, depth)}"
    return text + (_else(draw, indent, depth) if text.startswith(("for", "while")) else "")


def _try(draw: Draw, indent: str, depth: int) -> str:
    text = f"try{_body(draw, indent, depth)}"
    star = draw(st.sampled_from(["", "", "*"]))
    handlers = [draw(st.sampled_from(HANDLERS)) for _ in draw(st.sampled_from(["", "a", "ab"]))]
    handlers.sort(key=lambda handler: handler == "except")  # the bare one must be the last
    for number, handler in enumerate(handlers):
        if handler == "except" and (star or number + 1 < len(handlers)):
            continue
        text += f"{indent}{handler.replace('except', 'except' + star, 1)}{_body(draw, indent, depth)}"
    handled = any(line.startswith(f"{indent}except") for line in text.split("\n"))
    if handled and draw(st.sampled_from(["", "else"])):
        text += f"{indent}else{_body(draw, indent, depth)}"
    if not handled or draw(st.sampled_from(["", "finally"])):
        text += f"{indent}finally{_body(draw, indent, depth)}"
    return text


_COMPOUND = {
    "if": _if,
    "try": _try,
    "def": _definition,
    "match": _match,
    "for, while, with": _loop_or_with,
}


@st.composite
def modules(draw: Draw) -> str:
    r"""Draw the text of a module, with `\n` at the end of its lines."""
    future = draw(st.sampled_from(["", "'''import no'''\n", "#!/usr/bin/env python\n"]))
    lines = [draw(st.sampled_from(PREAMBLES)) for _ in draw(st.sampled_from(["", "a", "abc", "abcdef"]))]
    lines.sort(key=lambda line: "__future__" not in line)
    text = future + "".join(f"{line}\n" for line in lines) + _block(draw, "", 3)
    return text.rstrip("\n") if draw(st.sampled_from(["keep", "keep", "cut"])) == "cut" else text
