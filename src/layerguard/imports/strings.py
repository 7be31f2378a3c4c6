"""String literals that are, as a whole, the dotted path of a module or of a name in one.

Registries, lazy tables and the targets of `mock.patch` name modules so. Whether a path means one of the
project's modules is for the resolution to say; here every literal that could be one is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from layerguard.code import Code, StringToken
from layerguard.imports.base import Page, WrittenImport, WrittenName
from layerguard.regex import regex

_POSSIBLE = regex(r"[\"'](?:\\\n)?(?:[^\W\d]\w*\.)*[^\W\d]\w*[.:]")
_PATH = regex(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)|(?:[^\W\d]\w*\.)+[^\W\d]\w*")
_PREFIX = regex(r"(?:[^\W\d]\w*\.)+")
_BUILT = regex(r"[ \t\f\n]*(?:[+%](?!=)|\.\s*format\s*\()")
_BLANK = regex(r"[ \t\f\n]*")
_SURE = regex(
    r"(?<![a-zA-Z])(?:patch(?:ing|\s*\.\s*(?:dict|multiple))?|setattr|delattr|import_string|import_module"
    r"|symbol_by_name|locate)\s*\(\s*(?:(?:target|in_dict|name)\s*=\s*)?\Z"
)
_OTHER = regex(
    # The name of a logger,
    r"(?:getLogger|get_(?:\w+_)?logger|assert(?:No)?Logs)\s*\(\s*(?:(?:name|logger)\s*=\s*)?\Z"
    r"|(?i:(?<![a-z])logger(?:_name)?)\s*(?::[^=\n]*)?=\s*(?:\(\s*)?\Z"
    # of a group of entry points,
    r"|entry_points\s*\(\s*(?:group\s*=\s*)?\Z|select\s*\(\s*group\s*=\s*\Z"
    # or of a file.
    r"|(?<!/)/\s*\Z|(?<![\w.])(?:open|Path)\s*\(\s*\Z|\.\s*joinpath\s*\(\s*\Z"
)
_OTHER_BEHIND = regex(r"\s*/(?!/)|\s*,\s*logging\s*\.\s*[A-Z]")
_PATH_JOIN = regex(r"(?<!\w)path\s*\.\s*join\s*\Z")
_LOGGER = regex(r"(?:getLogger|get_(?:\w+_)?logger)\s*\Z")
_LOGGERS = regex(r"(?:[\"']loggers[\"']\s*:|(?<!\w)loggers\s*(?::[^=\n]*)?=)\s*\Z")
_BRACKET = regex(r"[(\[{]|[)\]}]")
_LONGEST_TABLE = 4000
"""How far before a string the bracket around it is looked for, in characters."""
_LONGEST_CALL = 80
"""How far before a string the name of the function that takes it is looked for, in characters."""


def find_strings(page: Page) -> Iterator[WrittenImport]:
    """Yield each string that could name a module.

    Docstrings and bytes are none, nor are the names of loggers, of groups of entry points and of files.
    Strings beside each other are one. Of one that is built up, the literal beginning counts where it
    ends with a dot and no blank follows: with one it is prose.
    """
    code = page.code
    if not _POSSIBLE.search(code.text):
        return
    strings, masked = code.strings, code.masked
    done = -1
    for start in sorted(strings):
        if start < done:
            continue
        tokens = _beside(page, start)
        end = tokens[-1].end
        # What stands in the fields of an f-string is code, with strings of its own.
        done = end if tokens[-1].field < 0 else tokens[-1].field
        found = _path(page, tokens)
        if found is None or page.blocks.stands_alone(start):
            continue
        module, name, is_open = found
        # `app.main:run` is hardly anything else than a name in a module, whoever takes it.
        is_name = bool(name) and "." in module
        if not is_name and _is_other(page, start, end):
            continue
        span = page.span(start, end)
        around = page.blocks.around(start)
        yield WrittenImport(
            module,
            span,
            "string",
            around.when,
            around.scope,
            (WrittenName(name, name, span),) if name else None,
            guarded=around.guarded,
            loose=not is_open,
            open=is_open,
            sure=is_name or bool(_SURE.search(masked, max(0, start - _LONGEST_CALL), start)),
        )


def _is_other(page: Page, start: int, end: int) -> bool:
    """Tell whether what stands around a string says that it names something else than a module."""
    code = page.code
    if _OTHER.search(code.masked, max(0, start - _LONGEST_CALL), start):
        return True
    if _OTHER_BEHIND.match(code.masked, end):
        return True
    if "ogger" not in code.text and "path" not in code.masked:
        return False
    for level, bracket in enumerate(_brackets_around(code.masked, start)):
        before = max(0, bracket.start() - _LONGEST_CALL), bracket.start()
        if bracket[0] == "(" and _LOGGER.search(code.masked, *before):
            return True
        pattern, text = (_PATH_JOIN, code.masked) if bracket[0] == "(" else (_LOGGERS, code.text)
        if level == 0 and pattern.search(text, *before):
            return True
    return False


def _brackets_around(masked: str, offset: int) -> Iterator[re.Match[str]]:
    """Yield the brackets that are open at an offset, the nearest first."""
    depth = 0
    for bracket in reversed(list(_BRACKET.finditer(masked, max(0, offset - _LONGEST_TABLE), offset))):
        depth += 1 if bracket[0] in "([{" else -1
        if depth > 0:
            depth = 0
            yield bracket


def _beside(page: Page, start: int) -> list[StringToken]:
    """Return the string that begins at an offset, and those that follow it with only blanks between."""
    strings, masked = page.code.strings, page.code.masked
    tokens = [strings[start]]
    while tokens[-1].field < 0:
        end = tokens[-1].end
        blank = _BLANK.match(masked, end)
        following = strings.get(blank.end() if blank else -1)
        if following is None:
            break
        # On another line it goes on only inside brackets, where the logical line is the same.
        if "\n" in masked[end : following.start] and page.blocks.line_start(following.start) > start:
            break
        tokens.append(following)
    return tokens


def _path(page: Page, tokens: list[StringToken]) -> tuple[str, str, bool] | None:
    """Return what the strings name together: a module, what stands behind a colon, whether it is built up."""
    code = page.code
    if any("b" in token.prefix for token in tokens):
        return None
    text = "".join(code.value(token) for token in tokens)
    if tokens[-1].field >= 0 or _BUILT.match(code.masked, tokens[-1].end):
        if _holds_blank(code, tokens):
            return None
        cut = min((at for at in (text.find("{"), text.find("%")) if at >= 0), default=len(text))
        text = text[:cut]
        return (text[:-1], "", True) if _PREFIX.fullmatch(text) else None
    found = _PATH.fullmatch(text)
    return (found[1] or text, found[2] or "", False) if found else None


def _holds_blank(code: Code, tokens: list[StringToken]) -> bool:
    """Tell whether blanks stand in what is literal of the strings: then they are prose, not a path."""
    return any(
        character.isspace() and code.masked[at] == '"'
        for token in tokens
        for at, character in enumerate(code.text[token.body : token.close], token.body)
    )
