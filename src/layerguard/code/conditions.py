"""The value of a condition when the code runs, as far as typing.TYPE_CHECKING decides it."""

from __future__ import annotations

from collections.abc import Collection

from layerguard.regex import regex

_WORD = regex(r"[(\[{]|[)\]}]|(?<!\w)(?:and|or|if|else|lambda)(?!\w)")
_NOT = regex(r"not(?!\w)")


def truth(condition: str, typing_names: Collection[str]) -> bool | None:
    """Return what a condition is at run time: False under TYPE_CHECKING; None where that does not tell.

    `condition` is masked code, `typing_names` are the expressions that mean typing.TYPE_CHECKING.
    """
    condition = condition.strip()
    parts = _split(condition)
    if "?" in parts:
        return None
    if len(parts) > 1:
        word = "or" if "or" in parts else "and"
        return _combined([truth(part, typing_names) for part in _join(parts, word)], decisive=word == "or")
    if _NOT.match(condition):
        value = truth(condition[3:], typing_names)
        return None if value is None else not value
    if condition.startswith("(") and _closes(condition):
        return truth(condition[1:-1], typing_names)
    return False if "".join(condition.split()) in typing_names else None


def _combined(values: list[bool | None], *, decisive: bool) -> bool | None:
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _split(condition: str) -> list[str]:
    """Split a condition at the `and`, `or` that stand in no brackets; those words are parts too.

    A conditional expression or a lambda there is the part `?`.
    """
    parts, depth, began = [], 0, 0
    for match in _WORD.finditer(condition):
        word = match[0]
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
        elif depth == 0:
            parts += [condition[began : match.start()], word if word in {"and", "or"} else "?"]
            began = match.end()
    return [*parts, condition[began:]]


def _join(parts: list[str], word: str) -> list[str]:
    """Join the parts between two `word`s again."""
    groups: list[list[str]] = [[]]
    for part in parts:
        if part == word:
            groups.append([])
        else:
            groups[-1].append(part)
    return [" ".join(group) for group in groups]


def _closes(condition: str) -> bool:
    """Tell whether the bracket at the start is closed by the one at the end."""
    depth = 0
    for at, character in enumerate(condition):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            return at == len(condition) - 1
    return False
