"""Random histories on a real repository, held against a slow, plain model of the ratchet.

The model shares no code with layerguard. It reads the few files that it writes itself, keeps for each commit
what they said, and walks the commits to find merge bases. What it relies on: a name of a module is never used
for another one, so that a name says which module it is, whatever it is called by then.

A long run: `MODEL_EXAMPLES=1000 pytest tests/test_model.py`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from history import ALLOWANCES, Repo
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from layerguard import Report, check
from layerguard.errors import UserError
from layerguard.ratchet import adopt, ratchet

TARGETS = ("app.b.x", "app.b.y")
PLACES = ("", ":f", ":g", " (typing)")
"""Module level, two functions that are always there, and under TYPE_CHECKING."""
CONTRACTS = ("c0", "c1", "c2")


class Import(NamedTuple):
    """An import: the module by its name, the place in it, what is imported."""

    name: str
    place: str
    target: str

    @property
    def key(self) -> str:
        scope, mark = (self.place, "") if self.place.startswith(":") else ("", self.place)
        return f"{self.name}{scope} -> {self.target}{mark}"


class Entry(NamedTuple):
    contract: str
    found: Import


class State(NamedTuple):
    """What the files of a commit, or of the work tree, say."""

    modules: dict[int, str]
    """The names of the modules, by the number that says which module it is."""
    imports: frozenset[Import]
    contracts: dict[str, tuple[str, ...]]
    """The targets of each contract."""
    entries: frozenset[Entry]

    def violations(self) -> set[Entry]:
        return {
            Entry(contract, each)
            for contract, targets in self.contracts.items()
            for each in self.imports
            if each.target in targets
        }


def module_text(number: int, imports: Iterable[Import]) -> str:
    """A module by which git knows it again, whatever it imports."""
    body = [hashlib.sha256(f"{number} {line}".encode()).hexdigest() for line in range(40)]
    lines = [f"# number {number}", "from typing import TYPE_CHECKING", *(f"# {text}" for text in body[:10])]
    by_place = {place: sorted(each.target for each in imports if each.place == place) for place in PLACES}
    lines += [f"import {target}" for target in by_place[""]]
    lines += [f"# {text}" for text in body[10:20]]
    for start, place in (("def f():", ":f"), ("def g():", ":g"), ("if TYPE_CHECKING:", " (typing)")):
        lines += [start, *(f"    import {target}" for target in by_place[place]), "    pass"]
        lines += [f"# {text}" for text in body[20:30]]
    return "\n".join([*lines, *(f"# {text}" for text in body[30:]), ""])


def contract_text(contract: str, targets: Iterable[str], words: str) -> str:
    listed = ", ".join(f'"{target}"' for target in targets)
    return (
        f'[[contract]]\nid = "{contract}"\nkind = "forbidden"\nsources = ["app.a"]\ntargets = [{listed}]\n'
        f'via = ["import"]\nbecause = "{words}"\n'
    )


def entries_text(entries: Iterable[Entry]) -> str:
    lines = ["version = 1"]
    listed = sorted((entry.contract, entry.found.key) for entry in entries)
    for number, (contract, key) in enumerate(listed):
        if not number or listed[number - 1][0] != contract:
            lines += ["", f"[allow.{contract}]"]
        lines.append(f'"{key}" = {{}}')
    return "\n".join([*lines, ""])


def read_state(root: Path) -> State:
    modules, imports = {}, set()
    for path in sorted((root / "app/a").glob("m*.py")):
        place, name = "", f"app.a.{path.stem}"
        for line in path.read_text().splitlines():
            if line.startswith("# number "):
                number = int(line.split()[-1])
                assert number not in modules
                modules[number] = name
            elif line.startswith(("def ", "if ")):
                place = f":{line[4]}" if line.startswith("def ") else " (typing)"
            elif line.strip().startswith("import "):
                imports.add(Import(name, place, line.split()[-1]))
    contracts = {
        path.stem: tuple(re.findall(r'"(app\.b\.\w)"', path.read_text()))
        for path in sorted((root / "contracts").glob("c*.toml"))
    }
    return State(
        modules, frozenset(imports), contracts, frozenset(read_entries((root / ALLOWANCES).read_text()))
    )


def read_entries(text: str) -> set[Entry]:
    found, contract = set(), ""
    for line in text.splitlines():
        if line.startswith("["):
            contract = line[7:-1]
        elif match := re.fullmatch(r'"([\w.]+)(:\w)? -> ([\w.]+)( \(typing\))?" = \{\}', line):
            found.add(Entry(contract, Import(match[1], match[2] or match[4] or "", match[3])))
    return found


class Past(NamedTuple):
    """What a state is compared with: a commit, and the entries that count as there."""

    state: State
    had: frozenset[Entry]


class Ratchet(RuleBasedStateMachine):
    """Branches of one repository; `main` takes only what the check of its merge lets through."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="model-"))
        self.repo = Repo(self.folder)
        self.commits: dict[str, State] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.numbers: dict[str, int] = {}
        """Which module a name is of, or was."""
        self.branches = ["work"]

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(
        imports=st.sets(st.tuples(st.integers(0, 2), st.sampled_from(PLACES), st.sampled_from(TARGETS)))
    )
    def begin(self, imports: set[tuple[int, str, str]]) -> None:
        """Start with three modules and one contract; all that breaks it is allowed."""
        self.repo.git("init", "-q", "-b", "main")
        listed = {
            "layerguard.toml": "",
            "app/__init__.py": "",
            "app/a/__init__.py": "",
            "app/b/__init__.py": "",
        }
        self.repo.write(listed | {"app/b/x.py": "X = 1\n", "app/b/y.py": "Y = 1\n"})
        found = {Import(f"app.a.m{number}", place, target) for number, place, target in imports}
        for number in range(3):
            self.new_name(number)
            self.write_module(number, f"app.a.m{number}", found)
        self.repo.write({"contracts/c0.toml": contract_text("c0", TARGETS, "x")})
        self.repo.write({ALLOWANCES: entries_text(Entry("c0", each) for each in found)})
        self.commit()
        self.repo.branch("work")

    # What is in the files

    def new_name(self, number: int) -> str:
        name = f"app.a.m{len(self.numbers)}"
        self.numbers[name] = number
        return name

    def write_module(self, number: int, name: str, imports: Iterable[Import]) -> None:
        text = module_text(number, [each for each in imports if each.name == name])
        self.repo.write({f"{name.replace('.', '/')}.py": text})

    @property
    def now(self) -> State:
        return read_state(self.folder)

    @rule(data=st.data(), place=st.sampled_from(PLACES), imported=st.sampled_from(TARGETS))
    def change_an_import(self, data: st.DataObject, place: str, imported: str) -> None:
        """Add a violation, or mend it where it is."""
        now = self.now
        if now.modules:
            number = data.draw(st.sampled_from(sorted(now.modules)))
            name = now.modules[number]
            self.write_module(number, name, now.imports ^ {Import(name, place, imported)})

    @rule(data=st.data(), together=st.booleans())
    def write_an_entry(self, data: st.DataObject, together: bool) -> None:
        """Write an entry by hand: of a violation, or of anything."""
        now = self.now
        some = sorted(now.violations() - now.entries)
        if together and some:
            entry = data.draw(st.sampled_from(some))
        else:
            names, places = st.sampled_from(sorted(self.numbers)), st.sampled_from(PLACES)
            imports = st.builds(Import, names, places, st.sampled_from(TARGETS))
            entry = Entry(data.draw(st.sampled_from(CONTRACTS)), data.draw(imports))
        self.repo.write({ALLOWANCES: entries_text(now.entries | {entry})})

    @rule(data=st.data())
    def delete_an_entry(self, data: st.DataObject) -> None:
        now = self.now
        if now.entries:
            entry = data.draw(st.sampled_from(sorted(now.entries)))
            self.repo.write({ALLOWANCES: entries_text(now.entries - {entry})})

    @rule()
    def write_down_everything(self) -> None:
        self.repo.write({ALLOWANCES: entries_text(self.now.violations())})

    @rule(data=st.data())
    def move_a_module(self, data: st.DataObject) -> None:
        now = self.now
        if now.modules:
            number = data.draw(st.sampled_from(sorted(now.modules)))
            old, new = now.modules[number], self.new_name(number)
            for name in (old, new):
                assert self.numbers[name] == number
            (self.folder / f"{old.replace('.', '/')}.py").rename(self.folder / f"{new.replace('.', '/')}.py")

    @rule()
    def make_a_module(self) -> None:
        number = len(self.numbers)
        self.write_module(number, self.new_name(number), ())

    @rule(data=st.data())
    def delete_a_module(self, data: st.DataObject) -> None:
        now = self.now
        if now.modules:
            name = now.modules[data.draw(st.sampled_from(sorted(now.modules)))]
            (self.folder / f"{name.replace('.', '/')}.py").unlink()

    @rule(
        contract=st.sampled_from(CONTRACTS),
        named=st.sampled_from([TARGETS, TARGETS[:1], TARGETS[1:]]),
        words=st.sampled_from("xyz"),
    )
    def write_a_contract(self, contract: str, named: tuple[str, ...], words: str) -> None:
        """Make a contract, or change it: widen, narrow, reword."""
        self.repo.write({f"contracts/{contract}.toml": contract_text(contract, named, words)})

    @rule(contract=st.sampled_from(CONTRACTS))
    def delete_a_contract(self, contract: str) -> None:
        if contract in self.now.contracts and len(self.now.contracts) > 1:
            (self.folder / f"contracts/{contract}.toml").unlink()

    # What git does

    @rule()
    def commit(self) -> None:
        before = self.repo.head if self.commits else ""
        head = self.repo.commit(message=str(len(self.commits)))
        self.note(head, (before,) if before else ())

    def note(self, commit: str, parents: tuple[str, ...]) -> None:
        self.commits[commit] = self.now
        self.parents[commit] = parents

    @rule(data=st.data(), new=st.booleans())
    def change_the_branch(self, data: st.DataObject, new: bool) -> None:
        self.commit()
        if new:
            self.branches.append(f"work{len(self.branches)}")
            self.repo.branch(self.branches[-1], data.draw(st.sampled_from(["main", "HEAD"])))
        else:
            self.repo.switch(data.draw(st.sampled_from(self.branches)))

    @rule(data=st.data())
    def merge_another(self, data: st.DataObject) -> None:
        """Merge main, or another branch, into the one that is checked out."""
        self.commit()
        self.merge(data.draw(st.sampled_from(["main", *self.branches])), data)

    def merge(self, other: str, data: st.DataObject) -> bool:
        """Merge; a conflict in the allowance file is resolved in any way, with another it is given up."""
        before, theirs = self.repo.head, self.repo.git("rev-parse", other)
        ours_entries, their_entries = self.now.entries, self.commits[theirs].entries
        if self.is_ancestor(theirs, before):
            return False
        command = ["git", "merge", "-q", "--no-ff", "--no-commit", other]
        subprocess.run(command, cwd=self.folder, check=False, capture_output=True)
        conflicts = self.repo.git("diff", "--name-only", "--diff-filter=U").split()
        if conflicts not in ([], [ALLOWANCES]):
            self.repo.git("reset", "-q", "--hard")
            self.repo.git("clean", "-q", "-f", "-d")
            return False
        if conflicts:
            choices = [
                ours_entries,
                their_entries,
                ours_entries | their_entries,
                ours_entries & their_entries,
            ]
            self.repo.write({ALLOWANCES: entries_text(data.draw(st.sampled_from(choices)))})
        # What is left is what the model can read; nothing was merged inside a line.
        self.repo.write({ALLOWANCES: entries_text(self.now.entries)})
        if not self.now.contracts:
            self.repo.write({"contracts/c0.toml": contract_text("c0", TARGETS, "x")})
        self.note(self.repo.commit(message="merge"), (before, theirs))
        return True

    @rule(data=st.data())
    def land(self, data: st.DataObject) -> None:
        """Merge the branch into main as a CI system does, and let main have it when the check passes."""
        self.commit()
        branch = self.repo.git("branch", "--show-current")
        old = self.commits[self.repo.git("rev-parse", "main")]
        self.repo.git("checkout", "-q", "--detach", "main")
        if self.merge(branch, data):
            environment = {
                "GITHUB_ACTIONS": "true",
                "GITHUB_BASE_REF": "main",
                "GITHUB_REF": "refs/pull/1/merge",
                "GITHUB_SHA": self.repo.head,
            }
            with mock.patch.dict(os.environ, environment):
                report = check(self.folder)
            assert report.base == self.repo.git("rev-parse", "main")
            self.compare(report, Past(old, old.entries))
            if not report.failed:
                self.nothing_came_in(old)
                self.repo.git("branch", "-f", "main", "HEAD")
        self.repo.switch(branch)

    def nothing_came_in(self, old: State) -> None:
        """What main tolerates it tolerated before, or the contract is new and the import is not."""
        before = {(each.contract, self.numbers[each.found.name], *each.found[1:]) for each in old.entries}
        stood = {(self.numbers[each.name], *each[1:]) for each in old.imports}
        now = self.now
        for contract, found in now.entries:
            debt = (self.numbers[found.name], *found[1:])
            assert (contract, *debt) in before or (contract not in old.contracts and debt in stood)
        assert now.violations() == now.entries

    # What layerguard says

    def ancestors(self, commit: str) -> set[str]:
        found, rest = set(), [commit]
        while rest:
            each = rest.pop()
            if each not in found:
                found.add(each)
                rest += self.parents[each]
        return found

    def is_ancestor(self, one: str, other: str) -> bool:
        return one in self.ancestors(other)

    def merge_bases(self, one: str, other: str) -> list[str]:
        common = self.ancestors(one) & self.ancestors(other)
        return sorted(
            each
            for each in common
            if not any(each != more and self.is_ancestor(each, more) for more in common)
        )

    def past(self, base: str) -> Past:
        first, *others = self.merge_bases(self.repo.head, self.repo.git("rev-parse", base))
        had = set(self.commits[first].entries)
        for other in others:
            theirs = self.commits[other].entries
            old = self.commits[self.merge_bases(first, other)[0]].entries
            had = {entry for entry in had | theirs if (entry in had and entry in theirs) or entry not in old}
        return Past(self.commits[first], frozenset(had))

    def growth(self, past: Past) -> set[Entry]:
        """The entries that must not be there."""
        now, then = self.now, past.state
        found = set()
        for entry in now.entries:
            contract, each = entry
            old_name = then.modules.get(self.numbers[each.name], each.name)
            moved = now.modules.get(self.numbers[each.name]) == each.name != old_name
            before = each._replace(name=old_name) if moved else each
            if contract not in now.contracts:
                continue
            if contract not in then.contracts:
                stood = each in then.imports or before in then.imports
            else:
                rewritten = moved and Entry(contract, before) not in now.entries
                stood = entry in past.had or (rewritten and Entry(contract, before) in past.had)
            if not stood:
                found.add(entry)
        return found

    def compare(self, report: Report, past: Past) -> None:
        now = self.now
        codes = ("LG102", "LG201", "LG202", "LG203")
        told: dict[str, set[tuple[str, str]]] = {code: set() for code in codes}
        for violation in report.violations:
            key = violation.key or violation.message.split("'")[1]
            told[violation.code].add((violation.contract, key))
        plain = {
            name: {(entry.contract, entry.found.key) for entry in entries}
            for name, entries in {
                "violations": now.violations(),
                "used": now.violations() & now.entries,
                "stale": {each for each in now.entries - now.violations() if each.contract in now.contracts},
                "unknown": {each for each in now.entries if each.contract not in now.contracts},
                "growth": self.growth(past),
            }.items()
        }
        assert told["LG201"] == plain["stale"]
        assert told["LG203"] == plain["unknown"]
        assert told["LG202"] <= plain["growth"], "a shrink is called growth"
        # An entry that is stale fails as such, and may be one that the ratchet is to rewrite first.
        assert plain["growth"] - plain["stale"] <= told["LG202"], "an allowance is let in"
        assert told["LG102"] <= plain["violations"] - plain["used"]
        quiet = {
            each for each in now.violations() - now.entries if (each[0], each[1].key) not in told["LG102"]
        }
        stale = {
            (each.contract, self.numbers[each.found.name], *each.found[1:])
            for each in now.entries - now.violations()
        }
        for contract, each in quiet:
            assert (contract, self.numbers[each.name], *each[1:]) in stale, "a violation passes in silence"
        for number, name in now.modules.items():
            old = past.state.modules.get(number, name)
            for contract, each in now.violations() - now.entries:
                if each.name == name != old and Entry(contract, each._replace(name=old)) in now.entries:
                    assert Entry(contract, each) in quiet, "a module that moved is new"
        assert report.failed == any(told.values())
        assert (report.allowed_before, report.summary.allowed) == (
            len([each for each in past.had if each.contract in now.contracts]),
            len(plain["used"]),
        )

    @invariant()
    @precondition(lambda self: self.commits)
    def check_holds(self) -> None:
        self.compare(check(self.folder, base="main"), self.past("main"))

    @rule()
    def check_what_is_not_committed(self) -> None:
        self.compare(check(self.folder, base="HEAD"), self.past("HEAD"))

    @rule(base=st.sampled_from(["main", "HEAD"]))
    def run_the_ratchet(self, base: str) -> None:
        before, past = self.now, self.past(base)
        old_growth = self.growth(past)
        done = ratchet(self.folder, base=base)
        now = self.now
        assert (len(now.entries), len(before.entries)) == (
            done.kept + done.moved,
            done.kept + done.moved + done.removed,
        )
        new = now.entries - before.entries
        assert len(new) == done.moved
        assert new <= now.violations()
        assert now.entries <= now.violations()
        assert self.growth(past) <= old_growth | new
        assert not self.growth(past) & new, "what the ratchet writes is growth"
        assert not ratchet(self.folder, base=base).changed
        assert self.now == now

    @rule(contract=st.sampled_from(CONTRACTS), base=st.sampled_from(["main", "HEAD"]))
    def adopt_a_contract(self, contract: str, base: str) -> None:
        before, past = self.now, self.past(base)
        if contract not in before.contracts:
            return
        try:
            adopt(contract, self.folder, base=base)
        except UserError:
            assert contract in past.state.contracts
            assert self.now == before
            return
        assert contract not in past.state.contracts
        new = self.now.entries - before.entries
        assert before.entries <= self.now.entries
        assert not self.growth(past) & new


Ratchet.TestCase.settings = settings(
    max_examples=int(os.environ.get("MODEL_EXAMPLES", "12")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestRatchet = Ratchet.TestCase
