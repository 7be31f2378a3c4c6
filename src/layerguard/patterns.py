"""Patterns that name modules: `app.core`, `app.*_utils`, `app.**.helpers`, `!app.core.free`.

A pattern names a package with all that is in it. `*` stands for any characters within one
component, `**` for one or more components; a leading `!` takes away. A pattern ends at a
component: `app.core` does not match `app.corelib`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def _compile(pattern: str) -> re.Pattern[str]:
    parts = []
    for component in pattern.split("."):
        if component == "**":
            parts.append(r"[^.]+(?:\.[^.]+)*?")
        else:
            parts.append(re.escape(component).replace(r"\*", "[^.]*"))
    return re.compile(r"\.".join(parts) + r"(?=\.|\Z)")


class Patterns:
    """A list of patterns, asked about names.

    With `as_packages=False` each pattern means the named modules alone, without what is in them.
    """

    def __init__(self, patterns: Iterable[str], *, as_packages: bool = True) -> None:
        """Compile the patterns; their order does not matter."""
        self.texts = tuple(patterns)
        self._as_packages = as_packages
        self._negative = [_compile(text[1:]) for text in self.texts if text.startswith("!")]
        self._found: dict[str, str | None] = {}
        self._highest: dict[str, str | None] = {}
        positive = [text for text in self.texts if not text.startswith("!")]
        self._literal = frozenset(text for text in positive if "*" not in text)
        is_plain = as_packages and not self._negative and len(self._literal) == len(positive)
        self.heads = tuple(f"{text}." for text in self._literal) if is_plain else None
        """How names begin that are meant and are no pattern themselves; None where that is no test."""
        self._wild = [_compile(text) for text in positive if "*" in text]

    def find(self, name: str) -> str | None:
        """Return the package by which `name` is meant, the highest match of it and its parents.

        None when no pattern means `name`.
        """
        found = self._found.get(name, "")
        if found == "":
            found = self._search(name)
            if found is not None and any(regex.match(name) for regex in self._negative):
                found = None
            self._found[name] = found
        return found

    def alone(self, text: str) -> Patterns:
        """Return one of the patterns by itself, meant in the same way."""
        return Patterns([text], as_packages=self._as_packages)

    def _search(self, name: str) -> str | None:
        """Return the highest match, whatever is taken away; as packages it is that of the parent, if any."""
        if not self._as_packages:
            return name if self._matches(name) else None
        known = self._highest
        parent = name.rpartition(".")[0]
        if parent and parent not in known:
            self._search_above(parent)
        found = known.get(parent) or (name if self._matches(name) else None)
        known[name] = found
        return found

    def _search_above(self, name: str) -> None:
        """Search for a name and all above it, without recursion."""
        waiting, each = [], name
        while each and each not in self._highest:
            waiting.append(each)
            each = each.rpartition(".")[0]
        for each in reversed(waiting):
            self._highest[each] = self._highest.get(each.rpartition(".")[0]) or (
                each if self._matches(each) else None
            )

    def _matches(self, name: str) -> bool:
        return name in self._literal or any(regex.fullmatch(name) for regex in self._wild)

    def __contains__(self, name: str) -> bool:
        """Tell whether a pattern means `name`."""
        return self.find(name) is not None

    def members(self, names: Iterable[str]) -> list[str]:
        """Return those of `names` that a pattern matches as a whole, sorted: the packages themselves."""
        return sorted(
            name
            for name in set(names)
            if self._matches(name) and not any(regex.match(name) for regex in self._negative)
        )


def matches_any(pattern: str, names: Iterable[str]) -> bool:
    """Tell whether a pattern (without its `!`) matches one of `names` as a whole."""
    regex = _compile(pattern.removeprefix("!"))
    return any(regex.fullmatch(name) for name in names)


class Importers:
    """Patterns of importers, each of which may name a scope: `app.cli`, `app.server:Server.load`.

    A pattern without a scope names a package with all that is in it; one with a scope names that
    function or class of the module itself, and what is nested in it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Compile the patterns; a leading `!` takes away here too."""
        self.texts = tuple(patterns)
        self._modules = Patterns(text for text in self.texts if ":" not in text)
        self._scopes = [
            (text.startswith("!"), _compile(module), _compile(scope))
            for text in self.texts
            if ":" in text
            for module, _, scope in [text.removeprefix("!").partition(":")]
        ]

    def of_module(self, module: str) -> bool | None:
        """Tell whether the patterns mean all of a module or nothing of it; None where scopes differ."""
        if any(regex.fullmatch(module) for _, regex, _ in self._scopes):
            return None
        return module in self._modules

    def match(self, module: str, scope: str) -> bool:
        """Tell whether the patterns mean this scope (empty: module level) of this module."""
        found = module in self._modules
        for takes_away, module_regex, scope_regex in self._scopes:
            if module_regex.fullmatch(module) and scope and scope_regex.match(scope):
                if takes_away:
                    return False
                found = True
        return found
