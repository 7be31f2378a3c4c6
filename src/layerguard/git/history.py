"""How the project was before: commits, their files, renames, the versions of one file."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path

from layerguard.errors import UserError
from layerguard.git.listing import list_files
from layerguard.git.running import WHOLE, checked, find_checkout, is_checkout, refusal, run


def find_commit(root: Path, revision: str) -> str | None:
    """Return the full hash of the commit that a revision means, None where git knows no such commit.

    Also None outside a checkout; raises UserError where there is one that git refuses to read.
    """
    if shutil.which("git") is None:
        return None
    done = run(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode == 0:
        return done.stdout.decode("ascii").strip()
    checkout = find_checkout(root)
    if checkout and done.stderr.startswith(b"fatal: detected dubious ownership"):
        raise refusal(done.stderr, checkout)
    return None


def is_shallow(root: Path) -> bool:
    """Tell whether the checkout has only a part of its history."""
    return run(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"


def find_merge_bases(root: Path, one: str, other: str) -> list[str]:
    """Return the best common ancestors of two commits, sorted: mostly one, several after merges both ways."""
    return sorted(run(root, "merge-base", "--all", one, other).stdout.decode("ascii").split())


def is_cut_off(root: Path, commits: Collection[str], ancestor: str) -> bool:
    """Tell whether the history of a shallow clone ends between these commits and an ancestor of theirs."""
    file = root / os.fsdecode(run(root, "rev-parse", "--git-path", "shallow").stdout).strip()
    ends = set(file.read_text("ascii").split()) if file.is_file() else set()
    between = run(root, "rev-list", *commits, f"^{ancestor}").stdout.decode("ascii").split()
    return not ends.isdisjoint(between)


def find_parents(root: Path, commit: str) -> list[str]:
    """Return the parents that a commit names, whether the checkout has them or not."""
    head = run(root, "cat-file", "commit", commit).stdout.partition(b"\n\n")[0]
    return [line[7:].decode("ascii") for line in head.split(b"\n") if line.startswith(b"parent ")]


def list_files_at(root: Path, commit: str) -> dict[str, str]:
    """Return the files below `root` at a commit, as `list_files` has them, each with the name of its blob.

    Raises UserError when git does not have all of them, as in a partial clone.
    """
    entries = os.fsdecode(checked(run(root, "ls-tree", "-r", "-z", commit))).split("\0")[:-1]
    split = (entry.partition("\t") for entry in entries)  # "100644 blob <hash>\tpath"
    return {path: fields.split()[2] for fields, _, path in split if fields.split()[1] == "blob"}


def read_blobs(root: Path, blobs: Collection[str]) -> dict[str, bytes]:
    """Return the bytes of blobs by name; raise UserError when one is missing, as in a partial clone."""
    if not blobs:
        return {}
    listed = "\n".join(blobs).encode() + b"\n"
    rest = checked(run(root, "cat-file", "--batch", stdin=listed))
    found: dict[str, bytes] = {}
    while rest:
        header, _, rest = rest.partition(b"\n")
        name, kind, *size = header.decode("ascii").split()
        if kind == "missing" or not size:
            raise UserError(f"git does not have the file '{name}' of an earlier commit.", WHOLE)
        found[name] = rest[: int(size[0])]
        rest = rest[int(size[0]) + 1 :]
    return found


def find_renames(root: Path, commit: str) -> list[tuple[str, str]]:
    """Return the files below `root` that were renamed since a commit, old and new path, sorted.

    The work tree is what counts, with files that are not tracked yet. Only pairs are given: one old path
    that is gone, one new path that was not there.
    """
    then = list_files_at(root, commit)
    gone = {path: blob for path, blob in then.items() if not os.path.lexists(root / path)}
    new = [path for path in list_files(root) or () if path not in then and _can_be_named(root / path)]
    if not gone or not new:
        return []
    objects = os.fsdecode(checked(run(root, "rev-parse", "--git-path", "objects")).strip())
    with tempfile.TemporaryDirectory(prefix="layerguard-") as folder:
        # Two trees are compared, the files as they are on disk: of the work tree itself git makes blobs with
        # the filters that the repository names, which are programs. Nothing is written to the repository.
        apart = {
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(root, objects),  # noqa: PTH118 - it may be absolute
        }
        named = os.fsencode("\n".join(f"{root}/{path}" for path in new))  # git would start at the top folder
        command = ("hash-object", "-w", "--no-filters", "--stdin-paths")
        blobs = checked(run(root, *command, stdin=named, variables=apart)).decode("ascii").split()
        trees = []
        for name, files in (("then", gone), ("now", dict(zip(new, blobs, strict=True)))):
            listed = os.fsencode("".join(f"100644 {blob}\t{path}\0" for path, blob in files.items()))
            index = {**apart, "GIT_INDEX_FILE": f"{folder}/{name}"}
            checked(run(root, "update-index", "-z", "--index-info", stdin=listed, variables=index))
            trees.append(checked(run(root, "write-tree", variables=index)).decode("ascii").strip())
        options = ("-r", "-z", "--name-status", "--find-renames", "-l4000", "--no-ext-diff", "--no-textconv")
        done = run(root, "diff-tree", *options, "--diff-filter=R", *trees, variables=apart)
        parts = os.fsdecode(checked(done)).split("\0")[:-1]
    return sorted(zip(parts[1::3], parts[2::3], strict=True))


def _can_be_named(path: Path) -> bool:
    """Tell whether this is a regular file whose name can stand on a line of its own."""
    name = str(path)
    return "\n" not in name and '"' not in name and not path.is_symlink() and path.is_file()


def list_stages(root: Path, path: str) -> dict[int, str]:
    """Return the blobs of a file that is in a merge conflict: 1 the common ancestor's, 2 ours, 3 theirs."""
    done = run(root, "--literal-pathspecs", "ls-files", "--unmerged", "-z", "--", path)
    entries = (entry.partition(b"\t")[0].split() for entry in done.stdout.split(b"\0")[:-1])
    return {int(stage): blob.decode("ascii") for _mode, blob, stage in entries}


def list_versions(root: Path, path: str, last: int) -> list[tuple[str, int, str]]:
    """Return the last commits that changed a file, newest first: commit, time (in s), blob ("" when deleted).

    Of a merge only the first parent counts: the branch that was merged shows as one change.
    """
    options = (
        "--raw",
        "--no-abbrev",
        "--root",
        "--no-renames",
        "--no-follow",
        "--no-color",
        "--no-show-signature",
    )
    parents = ("--first-parent", "-m", f"--max-count={last}", "--format=%H %ct", "HEAD", "--", path)
    done = run(root, "--literal-pathspecs", "log", "-z", *options, *parents)
    parts = done.stdout.decode("ascii", "replace").split(
        "\0"
    )  # "commit time", "\n:mode mode blob blob A", path
    found = []
    for head, change in zip(parts[0::3], parts[1::3], strict=False):
        commit, seconds = head.split()
        blob = change.split()[3]
        found.append((commit, int(seconds), blob.strip("0") and blob))
    return found


def list_lines(root: Path, path: str) -> list[tuple[str, int, bytes]]:
    """Return the lines of a file at `HEAD`, each with the commit that wrote it and its time (in s).

    Empty when there is no such file, or no commit yet. Raises UserError when git cannot tell.
    """
    done = run(root, "blame", "--porcelain", "--no-textconv", "HEAD", "--", path)
    nothing = (b"fatal: no such path", b"fatal: bad revision 'HEAD'")
    if done.returncode and not done.stderr.startswith(nothing):
        first = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UserError(f"git cannot tell when the lines of '{path}' were written: {first}")
    times: dict[str, int] = {}
    found = []
    commit = ""
    for line in done.stdout.split(b"\n"):
        if line.startswith(b"\t"):
            found.append((commit, times[commit], line[1:]))
        elif re.match(rb"[0-9a-f]{40,64} [0-9]", line):
            commit = line.split()[0].decode("ascii")
        elif line.startswith(b"committer-time "):
            times[commit] = int(line.split()[1])
    return found


def find_top(root: Path) -> tuple[str, str]:
    """Return the top folder of the checkout that holds `root`, and the way from there ("" or "a/b/").

    Outside a checkout that is `root` itself.
    """
    if not is_checkout(root):
        return str(root), ""
    top, way = (run(root, "rev-parse", f"--show-{what}").stdout for what in ("toplevel", "prefix"))
    return os.fsdecode(top.removesuffix(b"\n")), os.fsdecode(way.removesuffix(b"\n"))
