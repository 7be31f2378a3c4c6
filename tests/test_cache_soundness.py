"""Random changes of a project, after each of which a run with a cache must say what one without it says.

A long run: `SOUNDNESS_EXAMPLES=1000 pytest tests/test_cache_soundness.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest import mock

from clock import settle
from history import Repo
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from projects import write
from spec import call

from layerguard.start import main

CONTRACTS = {
    "direct": 'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.b", "app.deep"]\n',
    "far": 'kind = "forbidden"\nsources = ["app.a"]\ntargets = ["app.c"]\nreach = "transitive"\n',
    "apart": 'kind = "independence"\nmodules = ["app.b", "app.c"]\n',
    "guarded": 'kind = "protected"\nmodules = ["app.deep.d"]\nimporters = ["app.a:f"]\n',
    "there": 'kind = "existing"\npackages = ["app"]\n',
    "round": 'kind = "acyclic"\npackages = ["app"]\n',
    "gone": 'kind = "removed"\nmodules = { "app.old" = "app.c" }\n',
}
DEFAULT = ("direct", "there")
LINES = (
    "import app.b",
    "from app import c, nothing",
    "from app.deep import d",
    "from . import a",
    "import app.old",
    "# app.old is gone",
    "import importlib; importlib.import_module('app.c')",
    "X = 'app.deep.d.thing'",
    "def f():\n    import app.deep.d",
    "def thing(): pass",
    "def broken(",
)
SLIGHT = (
    "# app.c",
    "import json, app2.app",
    "from json import (\n    loads,  # app.c\n    dumps)",
    "def g():\n    import json",
    "import app.c",
    "from . import c",
    "from .b import b",
)
"""Lines of which the first ones change nothing that most contracts look at."""
ALONE = ("direct", "far", "apart", "guarded", "round")
"""The contracts that look at imports alone, not at what else stands in a file."""
MODULES = (
    "app/__init__.py",
    "app/a.py",
    "app/b.py",
    "app/c.py",
    "app/deep/__init__.py",
    "app/deep/d.py",
    "lib/e.py",
    "app/old.py",
)
TEXTS = ("docs/notes.md", "notes.txt")
OTHERS = (
    "docs/notes.md",
    "layerguard.toml",
    "app/pyproject.toml",
    "contracts/allowances.toml",
    ".gitignore",
    "../home/.config/git/ignore",
    "../home/.gitconfig",
    ".git/info/exclude",
)
"""Files of other kinds that may be links."""
ALLOWED = 'version = 1\n[allow.direct]\n"app.a -> app.b" = {}\n'
IGNORING = "[core]\n\texcludesFile = ~/.config/git/ignore\n[include]\n\tpath = more\n"
SAME = "".join(
    f"WORD_{number} = 'a line by which git knows the file again: {number}'\n" for number in range(9)
)
ENTRIES = (
    "app.a -> app.b",
    "app.a -> app.c",
    "app.b -> app.c",
    "app.a:f -> app.deep.d",
    "app.c -> app.old",
    "docs/notes.md -> app.old",
)
ARGUMENTS: tuple[tuple[str, ...], ...] = (
    (),
    (),
    ("app/a.py",),
    ("app", "docs"),
    ("--contract", "direct"),
    ("--contract", "gone"),
    ("--show-allowed",),
    ("--output-format", "json"),
    ("--output-format=sarif", "--show-allowed"),
    ("--strict-contracts",),
    ("--exit-zero", "--output-format", "concise"),
    ("--base", "HEAD"),
    ("--base", "side"),
    ("--base", "HEAD~1"),
    ("--base", "@{-1}"),
    ("--base", "ORIG_HEAD"),
)
ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {},
    {},
    {"LAYERGUARD_BASE": "side"},
    {"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "side"},
    {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main"},
    {"CI": "1"},
    {"GITLAB_CI": "true", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "side"},
    {"NO_COLOR": ""},
)
ABOUT_CACHE = ("note: the cache ", "note: the file '", "note: git tracks '")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
modules = st.sampled_from(MODULES)
bodies = st.lists(st.sampled_from(LINES), max_size=3).map("\n".join)
Said = tuple[int, str, list[str]]


class Soundness(RuleBasedStateMachine):
    """A project in a folder, and beside it what links lead to and git's own configuration."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="sound-")).resolve()
        self.root = self.folder / "project"
        self.root.mkdir()
        self.repo = Repo(self.root)
        self.home = self.folder / "home"
        self.in_git = False
        self.asked: list[tuple[tuple[str, ...], dict[str, str], str]] = [((), {}, ".")]
        self.before = Path.cwd()
        self.removed = 0

    def teardown(self) -> None:
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    @initialize(
        in_git=st.booleans(),
        contracts=st.sets(st.sampled_from(ALONE)) | st.sets(st.sampled_from(sorted(CONTRACTS))),
        texts=st.lists(bodies, min_size=len(MODULES) - 1, max_size=len(MODULES) - 1),
        allowed=st.sets(st.sampled_from(ENTRIES)),
    )
    def begin(self, in_git: bool, contracts: set[str], texts: list[str], allowed: set[str]) -> None:
        write(self.root, dict(zip(MODULES, texts, strict=False)))
        write(self.root, {"layerguard.toml": "", ".gitignore": "ignored/\n", "docs/notes.md": "app.old\n"})
        write(self.home, {".config/git/ignore": ""})
        write(
            self.folder,
            {"event.json": json.dumps({"before": "0" * 40, "repository": {"default_branch": "x"}})},
        )
        for name in contracts | {"direct"}:
            self.write_contract(name, 0)
        self.write_entries(allowed)
        if in_git:
            self.in_git = True
            self.repo.git("init", "-q", "-b", "main")
            self.repo.commit()
            self.repo.git("branch", "side")

    # What is compared

    def say(self, words: tuple[str, ...], variables: dict[str, str], folder: str) -> Said:
        place = self.root / folder
        os.chdir(place if place.is_dir() else self.root)
        outside = {"HOME": str(self.home), "GITHUB_EVENT_PATH": str(self.folder / "event.json")}
        outside["GIT_CONFIG_GLOBAL"] = str(self.home / ".gitconfig")
        with mock.patch.dict(os.environ, variables | outside):
            status, out, err = call(main, ["check", *words])
        return status, out, [line for line in err.splitlines() if not line.startswith(ABOUT_CACHE)]

    def compare(self, which: slice = slice(None), times: int = 2) -> None:
        for words, variables, folder in self.asked[which]:
            plain = self.say((*words, "--no-cache"), variables, folder)
            for _ in range(times):
                assert self.say(words, variables, folder) == plain

    @invariant()
    def cached_is_plain(self) -> None:
        settle()
        self.compare()

    @rule(
        words=st.sampled_from(ARGUMENTS),
        variables=st.sampled_from(ENVIRONMENTS),
        folder=st.sampled_from([".", ".", "app", "app/deep", "docs"]),
    )
    def ask(self, words: tuple[str, ...], variables: dict[str, str], folder: str) -> None:
        """Ask something else from now on, beside the last question."""
        self.asked = [*self.asked[-1:], (words, variables, folder)]

    # Files

    def put(self, path: str, text: str) -> bool:
        """Write a file where that is possible."""
        place = self.root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        except OSError:
            return False
        return True

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)

    @rule(path=modules, text=bodies)
    def edit(self, path: str, text: str) -> None:
        self.put(path, text)

    @rule(edits=st.lists(st.tuples(modules, st.sampled_from(SLIGHT)), min_size=1, max_size=5))
    def edit_slightly(self, edits: list[tuple[str, str]]) -> None:
        """Give files a line more, and ask after each."""
        for path, line in edits:
            place = self.root / path
            text = place.read_text() if place.is_file() else ""
            self.put(path, f"{text}\n{line}\n")
            self.compare()

    @rule(path=st.sampled_from(TEXTS), text=st.sampled_from(["", "app.old", "see app.old.x", SAME]))
    def edit_a_text(self, path: str, text: str) -> None:
        self.put(path, text)

    @rule(path=modules, texts=st.lists(bodies, min_size=2, max_size=4))
    def edit_quickly(self, path: str, texts: list[str]) -> None:
        """Edit again and again, with a run between, perhaps within one tick of the clock."""
        for text in texts:
            self.put(path, text.ljust(200))
            self.compare(slice(-1, None), 1)

    @rule(path=modules, time=st.sampled_from([0, 1, -3600, 3600]), text=bodies)
    def edit_and_set_the_time(self, path: str, time: int, text: str) -> None:
        """Write as many bytes as there were, and put the time back, or set it to another one."""
        place = self.root / path
        if place.is_file():
            old = place.stat()
            place.write_text(text.ljust(old.st_size)[: old.st_size])
            when = old.st_mtime_ns + time * 1_000_000_000
            os.utime(place, ns=(when, when))

    @rule(path=modules)
    def touch(self, path: str) -> None:
        if (self.root / path).exists():
            (self.root / path).touch()

    @rule(path=st.sampled_from([*MODULES, *TEXTS, "app/deep", "lib", "docs"]))
    def delete(self, path: str) -> None:
        self.remove(path)

    @rule(
        old=modules, new=st.sampled_from([*MODULES, "app/n.py", "app/new/x.py", "app/b.pyi", "ignored/i.py"])
    )
    def rename(self, old: str, new: str) -> None:
        if (self.root / old).is_file() and not (self.root / new).exists():
            try:
                (self.root / new).parent.mkdir(parents=True, exist_ok=True)
                (self.root / old).rename(self.root / new)
            except OSError:
                return

    @rule(
        old=st.sampled_from(["app/a.py", "app/b.py"]),
        new=st.sampled_from(["app/n.py", "app/new/n.py"]),
        text=st.sampled_from(["notes.txt", "docs/more.md", "ignored/i.py"]),
        first=st.booleans(),
    )
    def move_with_words(self, old: str, new: str, text: str, first: bool) -> None:
        """Move a file that git knows again, and give its words to another one, before or after a run."""
        if not self.in_git or not self.put(old, f"import app.b\n{SAME}"):
            return
        self.write_entries(["app.a -> app.b", "app.b -> app.c"])
        self.commit(everything=True)
        self.remove(old)
        self.put(new, f"import app.b\n{SAME}# moved\n")
        self.put(text, f"import app.b\n{SAME}" if first else "")
        settle()
        self.compare()
        self.put(text, "" if first else f"import app.b\n{SAME}")

    @rule(one=modules, other=modules)
    def swap(self, one: str, other: str) -> None:
        """Exchange two files, which keep all their numbers but one."""
        if one != other and all((self.root / path).is_file() for path in (one, other)):
            (self.root / one).rename(self.folder / "between")
            (self.root / other).rename(self.root / one)
            (self.folder / "between").rename(self.root / other)

    @rule(path=st.sampled_from([*MODULES, "docs/notes.md"]), inside=st.booleans())
    def make_a_folder_of_a_file(self, path: str, inside: bool) -> None:
        self.remove(path)
        try:
            (self.root / path).mkdir(parents=True)
        except OSError:
            return
        if inside:
            self.put(f"{path}/x.py", "import app.b\n")

    @rule(
        path=st.sampled_from(
            [*MODULES, "docs/notes.md", "app/n.pyi", "layerguard.toml", "contracts/linked.toml"]
        ),
        to=st.sampled_from(["one", "two", "three", "none", "app/c.py", "ignored/i.py"]),
    )
    def link(self, path: str, to: str) -> None:
        """Replace a file by a link: into the project, out of it, over further links, to nothing."""
        self.link_to(path, to)

    def link_to(self, path: str, to: str) -> None:
        self.remove(path)
        try:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).symlink_to(self.root / to if "/" in to else self.folder / to)
        except OSError:
            return

    @rule(
        path=st.sampled_from([*MODULES, *OTHERS]),
        to=st.sampled_from(["one", "two", "three"]),
        text=bodies | st.sampled_from(['exclude = ["app/b.py"]', "*.md\n", "app/n.py\n", ALLOWED, IGNORING]),
    )
    def change_a_file_by_another_name(self, path: str, to: str, text: str) -> None:
        """Put a link in the place of a file, and write to what it leads to."""
        place = self.root / path
        old = place.read_bytes() if place.is_file() else b""
        if to == "three":
            self.lead_to("one")
        (self.folder / to).write_bytes(old)
        self.link_to(path, to)
        settle()
        self.compare()
        (self.folder / to).write_text(text)

    @rule(name=st.sampled_from(["one", "two"]), text=bodies | st.just("") | st.just('exclude = ["app/b.py"]'))
    def change_what_links_lead_to(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    @rule(name=st.sampled_from(["one", "two", "none"]))
    def change_where_links_lead(self, name: str) -> None:
        self.lead_to(name)

    def lead_to(self, name: str) -> None:
        (self.folder / "three").unlink(missing_ok=True)
        (self.folder / "three").symlink_to(name)

    @rule(path=st.sampled_from(["one", "two", "three"]))
    def remove_what_links_lead_to(self, path: str) -> None:
        (self.folder / path).unlink(missing_ok=True)

    @rule(
        folder=st.sampled_from(["app/new", "new/deeper/deepest", "ignored", "app/new/inner"]),
        name=st.sampled_from(["", "x.py", "__init__.py", "x.pyi", "x.so"]),
    )
    def make_a_folder(self, folder: str, name: str) -> None:
        """Make an empty folder, or put a file into one that may be there."""
        try:
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        if name:
            self.put(f"{folder}/{name}", "import app.b\n")

    @rule(name=st.sampled_from(sorted(CONTRACTS)))
    def share_the_contracts(self, name: str) -> None:
        """Put a link to a folder in the place of that of the contracts, and a contract into it."""
        contracts, shared = self.root / "contracts", self.folder / "shared"
        if contracts.is_dir() and not contracts.is_symlink():
            shutil.copytree(contracts, shared, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(contracts)
            contracts.symlink_to(shared)
        settle()
        self.compare()
        self.write_contract(name, 0)

    @precondition(lambda _: not IS_ROOT)
    @rule(path=st.sampled_from([*MODULES, "app/deep", "lib"]))
    def forbid(self, path: str) -> None:
        """Make something unreadable for one comparison."""
        place = self.root / path
        if place.exists() and not place.is_symlink():
            mode = place.stat().st_mode
            place.chmod(0)
            try:
                settle()
                self.compare()
            finally:
                place.chmod(mode)

    # The configuration

    def write_contract(self, name: str, number: int) -> None:
        text = CONTRACTS[name]
        if number:
            text = text.replace('"app.b"', '"app.c"').replace('"app"', '"app.deep"')
        self.put(f"contracts/{name}.toml", f'[[contract]]\nid = "{name}"\n{text}')

    def write_entries(self, keys: Iterable[str], contract: str = "direct", value: str = "{}") -> None:
        lines = [f'"{key}" = {value}' for key in sorted(keys)]
        self.put("contracts/allowances.toml", "\n".join(["version = 1", f"[allow.{contract}]", *lines, ""]))

    @rule(name=st.sampled_from(sorted(CONTRACTS)), number=st.integers(0, 1))
    def edit_a_contract(self, name: str, number: int) -> None:
        self.write_contract(name, number)

    @rule(name=st.sampled_from(sorted(CONTRACTS)))
    def delete_a_contract(self, name: str) -> None:
        self.remove(f"contracts/{name}.toml")

    @rule(
        keys=st.sets(st.sampled_from(ENTRIES)),
        contract=st.sampled_from(["direct", "gone", "unknown"]),
        value=st.sampled_from(
            ["{}", '{ reason = "x", review-by = 2020-01-01 }', "{ review-by = 2999-01-01 }"]
        ),
    )
    def edit_the_allowances(self, keys: set[str], contract: str, value: str) -> None:
        self.write_entries(keys, contract, value)

    @rule(
        text=st.sampled_from(
            [
                "",
                'exclude = ["app/b.py"]',
                'exclude = ["*", "!app/a.py"]',
                'source-roots = ["app"]',
                'base = "side"',
                'base = "HEAD~1"',
                'contracts = ["contracts/*.toml", "more/*/x.toml"]',
                'contracts = ["**/*.toml"]',
                "broken",
            ]
        )
    )
    def configure(self, text: str) -> None:
        self.remove("layerguard.toml")
        self.put("layerguard.toml", f"{text}\n")

    @rule(
        path=st.sampled_from(
            ["more/one/x.toml", "app/layerguard.toml", "app/deep/pyproject.toml", "app/pyproject.toml"]
        ),
        there=st.booleans(),
    )
    def configure_elsewhere(self, path: str, there: bool) -> None:
        """Make or remove a contract file that a glob matches, or a configuration in a folder below."""
        table = '[[{}contract]]\nid = "below"\n' + CONTRACTS["there"]
        self.remove(path)
        if there:
            self.put(path, table.format("tool.layerguard." if path.endswith("pyproject.toml") else ""))

    @rule(
        path=st.sampled_from([".gitignore", "app/.gitignore", "app/new/.gitignore", "ignored/.gitignore"]),
        text=st.sampled_from(
            ["", "*.py\n", ".gitignore\n", "new/\n", "/b.py\n!/a.py\n", "*\n!*/\n", "ignored/\n"]
        ),
    )
    def ignore(self, path: str, text: str) -> None:
        self.put(path, text)

    # Git

    def git(self, *words: str) -> None:
        """Run git, which may fail."""
        if self.in_git:
            subprocess.run(["git", *words], cwd=self.root, check=False, capture_output=True)

    @rule(path=st.sampled_from(["app/a.py", "app", "ignored/i.py", "-A", "docs"]))
    def add(self, path: str) -> None:
        self.git("add", "-f", path)

    @rule(path=modules)
    def forget(self, path: str) -> None:
        self.git("rm", "-q", "--cached", path)

    @rule(everything=st.booleans())
    def commit(self, everything: bool) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", "x", *(["-a"] if everything else []))

    @rule(words=st.sampled_from(["checkout -q side", "checkout -q main", "checkout -q -f --detach main"]))
    def switch(self, words: str) -> None:
        self.git(*words.split())

    @rule(
        words=st.sampled_from(
            [
                "stash -q",
                "stash -q -u",
                "stash pop -q",
                "branch -f side HEAD",
                "branch -f side HEAD~1",
                "reset -q --soft HEAD~1",
                "reset -q --hard",
                "pack-refs --all",
                "gc -q",
                "update-ref ORIG_HEAD HEAD~1",
                "update-ref ORIG_HEAD HEAD",
                "status",
                "update-index --refresh",
                "merge -q --no-ff side",
                "merge --abort",
            ]
        )
    )
    def run_git(self, words: str) -> None:
        self.git(*words.split())

    @rule(text=st.sampled_from(["", "app/b.py\n", "*.md\n", "new\n"]), place=st.integers(0, 1))
    def ignore_elsewhere(self, text: str, place: int) -> None:
        if self.in_git:
            self.put([".git/info/exclude", "../home/.config/git/ignore"][place], text)

    @rule(name=st.sampled_from(["one", "two"]), text=st.sampled_from(["app/b.py\n", "*.md\n", "app/n.py\n"]))
    def include_a_configuration(self, name: str, text: str) -> None:
        """Let git read a configuration that is not there, and then put it there."""
        if self.in_git:
            self.git("config", "include.path", str(self.folder / f"include {name}"))
            settle()
            self.compare()
            names = self.folder / f"names {name}"
            names.write_text(text)
            write(
                self.folder, {f"include {name}": f'[core]\n\texcludesFile = "{self.folder}/names {name}"\n'}
            )

    @rule(commit=st.sampled_from(["HEAD~1", "side"]))
    def compare_with_another_name(self, commit: str) -> None:
        """Let a name that git does not keep among its refs mean another commit."""
        self.ask(("--base", "REBASE_HEAD"), {}, ".")
        self.git("update-ref", "REBASE_HEAD", "HEAD")
        settle()
        self.compare()
        self.git("update-ref", "REBASE_HEAD", commit)

    @rule(folder=st.sampled_from(["linked", "project"]))
    def change_the_work_tree(self, folder: str) -> None:
        """Go on in a linked work tree, or in the first one again."""
        if self.in_git:
            if not (self.folder / folder).exists():
                self.git("worktree", "add", "-q", "-f", "--detach", str(self.folder / folder))
            if (self.folder / folder).is_dir():
                self.root = self.folder / folder
                self.repo = Repo(self.root)

    @rule(path=st.sampled_from(["app/deep", "app/new", "lib"]), there=st.booleans())
    def nest_a_repository(self, path: str, there: bool) -> None:
        if self.in_git and (self.root / path).is_dir():
            self.remove(f"{path}/.git")
            if there:
                subprocess.run(["git", "init", "-q", str(self.root / path)], check=True)

    @rule()
    def hide_the_repository(self) -> None:
        """Take the checkout away, or bring it back."""
        one, other = self.root / ".git", self.folder / "hidden"
        if one.is_dir():
            one.rename(other)
            self.in_git = False
        elif other.is_dir():
            other.rename(one)
            self.in_git = True

    # The cache itself

    @property
    def cached(self) -> list[Path]:
        return sorted(path for path in self.root.rglob(".layerguard_cache/*/*-*") if path.is_file())

    @rule(
        which=st.integers(0, 99),
        other=st.integers(0, 99),
        where=st.integers(0, 9999),
        how=st.sampled_from(["empty", "truncate", "flip", "folder", "old", "kind"]),
    )
    def damage(self, which: int, other: int, where: int, how: str) -> None:
        files = self.cached
        if not files:
            return
        file = files[which % len(files)]
        old = file.read_bytes()
        # Nothing is drawn that depends on the files: which there are, and how long, may be another thing the
        # next time.
        place = where * len(old) // 10_000
        changes: dict[str, Callable[[], bytes]] = {
            "empty": lambda: b"",
            "truncate": lambda: old[:place],
            "flip": lambda: old[:place] + bytes([old[place] ^ 1]) + old[place + 1 :] if old else b"",
            "old": lambda: old.replace(b"layerguard cache 1\n", b"layerguard cache 0\n"),
            "kind": files[other % len(files)].read_bytes,
        }
        if how == "folder":
            file.unlink()
            file.mkdir()
        else:
            file.write_bytes(changes[how]())

    @rule(which=st.sampled_from(["verdict", "findings", "outlines"]))
    def lose_a_part(self, which: str) -> None:
        for path in self.cached:
            if path.name.startswith(which):
                path.unlink()

    @rule(
        what=st.sampled_from(
            [".layerguard_cache", ".layerguard_cache/.gitignore", ".layerguard_cache/CACHEDIR.TAG"]
        )
    )
    def lose_the_cache(self, what: str) -> None:
        self.remove(what)

    @rule()
    def keep_it_aside(self) -> None:
        """Bring back the cache of another time."""
        cache, aside = self.root / ".layerguard_cache", self.folder / "aside"
        if aside.exists():
            self.remove(".layerguard_cache")
            shutil.copytree(aside, cache)
            shutil.rmtree(aside)
        elif cache.is_dir():
            shutil.copytree(cache, aside)


Soundness.TestCase.settings = settings(
    max_examples=int(os.environ.get("SOUNDNESS_EXAMPLES", "8")),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestSoundness = Soundness.TestCase
