"""Fixes of mentions in text, comments and docstrings: dotted paths, and paths of files and folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from layerguard.fixes.base import Edit, Place, Project, Refusal, disagreement, old_and_new
from layerguard.regex import regex

_GOES_ON = regex(r"[*{]|\.\w")
_MORE = regex(r"[\w./-]*")
_SUFFIX = regex(r"(/__init__)?(\.pyi?)\Z")
_CERTAIN = regex(r"(?:(?<!\w)(?:import|from)|::|(?<!\S)-m)[ \t]+\Z")


def fix_mention(text: str, place: Place, project: Project) -> Iterator[Edit]:
    """Yield the edit that puts the new name into a text.

    Raises Refusal for a single word that may be any word, and for a path of which it cannot be told what it
    is called now.
    """
    written = text[place.start : place.end]
    old, new = old_and_new(place, place.imported)
    if "/" in written or _SUFFIX.search(written):
        yield _path(text, place, project)
        return
    if "." not in written and not _CERTAIN.search(text[max(0, place.start - 20) : place.start]):
        raise Refusal(f"'{written}' may be a plain word here")
    if not written.startswith(old):
        raise Refusal("the text is not what it was")
    project.moved(place.contracts, place.imported)
    yield Edit(place.start, place.start + len(old), new)


def _path(text: str, place: Place, project: Project) -> Edit:
    """Return the edit of a path: of the source root before it too, where the new file is below another."""
    old, new = old_and_new(place, place.imported)
    if any(each.moved(old) != new for each in place.contracts):
        raise disagreement(place.contracts)
    if not project.graph.owns(new):
        raise Refusal(f"'{new}' is not of this project, so the path of its file is not known")
    written = text[place.start : place.end]
    more = _MORE.match(text, place.end)
    # Behind a folder of the module, a file or folder may be named that is no module.
    rest = more[0].rstrip("./") if more and more[0].startswith("/") else ""
    line = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    root = next((f"{each}/" for each in project.roots if _ends_with_root(line, each)), "")
    candidates = _candidates(new.replace(".", "/") + written[len(old) :] + rest, text[place.end :][:2])
    for path in candidates:
        for other in sorted(project.roots, key=lambda each: f"{each}/" != root):
            whole = f"{other}/{path}" if other else path
            if not _exists(whole, project):
                continue
            if not root or f"{other}/" == root:
                return Edit(place.start, place.end + len(rest), path)
            return Edit(place.start - len(root), place.end + len(rest), whole)
    raise Refusal(f"there is no '{root}{candidates[0]}'")


def _candidates(path: str, following: str) -> list[str]:
    """Return what a path may be called now: a single module may have become a package, or a package one."""
    suffix = _SUFFIX.search(path)
    if suffix:
        stem = path[: suffix.start()]
        return sorted([stem + suffix[2], f"{stem}/__init__{suffix[2]}"], key=lambda each: each != path)
    if path.endswith("/") and not _GOES_ON.match(following):
        return [path, f"{path[:-1]}.py"]
    return [path]


def _ends_with_root(line: str, root: str) -> bool:
    return bool(root) and re.search(rf"(?<![\w./-])\.?/?{re.escape(root)}/\Z", line) is not None


def _exists(path: str, project: Project) -> bool:
    return path.rstrip("/") in project.folders or path in project.files
