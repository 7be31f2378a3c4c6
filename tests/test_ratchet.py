from __future__ import annotations

from pathlib import Path

import pytest
from history import ALLOWANCES, PLAIN, WORDS, Repo, start
from projects import AB, allow, run, write

from layerguard.errors import UserError
from layerguard.ratchet import Adopted, Ratcheted, adopt, ratchet

OLD, NEW = "app.a.m -> app.b.x", "app.a.m -> app.b.y"
MORE = AB.replace('"ab"', '"more"')


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Three allowances: of a violation that is mended, of one whose module moved, of one that stays."""
    files = PLAIN | {"app/a/k.py": "import app.b.x\n", "app/b/y.py": "import app.a\n"}
    text = allow("app.a.k -> app.b.x", OLD, "app.b.y -> app.a").replace("[allow", "# Why.\n[allow")
    repo = start(tmp_path, files | {ALLOWANCES: text}).branch("work")
    repo.git("mv", "app/a/m.py", "app/a/n.py")
    return repo.write({"app/a/k.py": ""})


class TestRatchet:
    def test_it_removes_and_rewrites(self, repo: Repo) -> None:
        done = ratchet(repo.root, base="main")
        assert done == Ratcheted(ALLOWANCES, removed=1, moved=1, kept=1)
        assert (str(done), done.changed) == ("removed 1, moved 1, kept 1", True)
        expected = allow("app.a.n -> app.b.x", "app.b.y -> app.a").replace("[allow", "# Why.\n[allow")
        assert repo.text() == expected
        again = ratchet(repo.root, base="main")
        assert (again, again.changed) == (Ratcheted(ALLOWANCES, removed=0, moved=0, kept=2), False)
        assert repo.text() == expected

    def test_it_only_says_so(self, repo: Repo) -> None:
        before = repo.text()
        assert ratchet(repo.root, base="main", write=False).changed
        assert run(repo.root, "ratchet", "--check", "--base", "main").returncode == 1
        done = run(repo.root, "ratchet", "--base", "main", environment={"CI": "true"})
        assert (done.returncode, done.stdout) == (1, b"removed 1, moved 1, kept 1\n")
        assert b"nothing was written to contracts/allowances.toml, because this is a CI system" in done.stderr
        assert repo.text() == before
        assert run(repo.root, "ratchet", "--base", "main").returncode == 0
        assert run(repo.root, "ratchet", "--check", "--base", "main").returncode == 0

    def test_it_never_adds(self, repo: Repo) -> None:
        repo.write({"app/a/n.py": f"import app.b.x\nimport app.b.y\n\n{WORDS}\n"})
        assert ratchet(repo.root, base="main").kept == 1
        assert 'app.b.y"' not in repo.text()
        assert [each.code for each in repo.check("main").violations] == ["LG103"]

    def test_a_base_that_cannot_be_read(self, repo: Repo) -> None:
        before = repo.text()
        assert run(repo.root, "ratchet", "--base", "no-such").returncode == 2
        assert repo.text() == before

    def test_a_file_that_cannot_be_analysed(self, repo: Repo) -> None:
        repo.write({"app/b/y.py": "def f(:\n"})
        done = ratchet(repo.root, base="main")
        assert (done.removed, done.moved, done.kept) == (1, 1, 1)
        assert done.notes == (
            "1 allowance could not be judged and stays, since not all was analysed: 'app/b/y.py'.",
        )

    def test_outside_git(self, tmp_path: Path) -> None:
        table = '[[contract]]\nid = "gone"\nkind = "removed"\nmodules = { "app.a.m" = "app.a.n" }\n'
        files = PLAIN | {"layerguard.toml": AB + table, "app/a/n.py": "import app.b.x\n"}
        write(tmp_path, {path: text for path, text in files.items() if path != "app/a/m.py"})
        assert str(ratchet(tmp_path)) == "removed 0, moved 1, kept 0"
        assert Repo(tmp_path).text() == allow("app.a.n -> app.b.x")


class TestAdopt:
    def test_what_stood_in_the_code(self, tmp_path: Path) -> None:
        repo = start(tmp_path).branch("work")
        repo.write({"layerguard.toml": AB + MORE, "app/a/m.py": "import app.b.x\nimport app.b.y\n"})
        done = adopt("more", repo.root, base="main")
        assert done == Adopted(ALLOWANCES, added=1, left=1)
        assert done.changed
        assert repo.text() == f'{allow(OLD)}\n[allow.more]\n"{OLD}" = {{}}\n'
        again = adopt("more", repo.root, base="main")
        assert (again, again.changed) == (Adopted(ALLOWANCES, added=0, left=1), False)

    def test_sorted_and_without_a_file(self, tmp_path: Path) -> None:
        files = PLAIN | {"layerguard.toml": "", "app/b/y.py": "def f():\n    import app.a.m\nimport app.a\n"}
        repo = start(tmp_path, {path: text for path, text in files.items() if path != ALLOWANCES})
        repo.write({"layerguard.toml": AB})
        assert str(adopt("ab", repo.root)) == "adopted 3"
        assert [line for line in repo.text().splitlines() if line.startswith('"')] == [
            f'"{OLD}" = {{}}',
            '"app.b.y -> app.a" = {}',
            '"app.b.y:f -> app.a.m" = {}',
        ]
        assert repo.check().violations == ()

    def test_into_its_table(self, tmp_path: Path) -> None:
        files = PLAIN | {"layerguard.toml": "", "app/b/y.py": "import app.a.m\n"}
        repo = start(tmp_path, files | {ALLOWANCES: "version = 1\n"})
        repo.write({"layerguard.toml": AB + MORE})
        tables = f'version = 1\n\n[allow.ab]\n"{OLD}" = {{ reason = "x" }}\n\n[allow.more]\n"{OLD}" = {{}}\n'
        repo.write({ALLOWANCES: tables})
        assert str(adopt("ab", repo.root)) == "adopted 1"
        assert repo.text() == tables.replace('"x" }\n', '"x" }\n"app.b.y -> app.a.m" = {}\n')

    def test_a_contract_that_the_base_has(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        repo.write({"app/a/m.py": "import app.b.x\nimport app.b.y\n"})
        with pytest.raises(UserError) as caught:
            adopt("ab", repo.root)
        assert caught.value.message == (
            f"the contract 'ab' is in {repo.head[:7]} already, so it takes no more allowances."
        )
        assert run(repo.root, "ratchet", "--adopt", "ab").returncode == 2
        assert repo.text() == PLAIN[ALLOWANCES]

    def test_a_frozen_contract(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        repo.write({"layerguard.toml": f"{AB}{MORE}frozen = true\n"})
        with pytest.raises(UserError, match="the contract 'more' is frozen: it takes no allowances"):
            adopt("more", repo.root)

    def test_an_unknown_contract(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="there is no contract 'abc'"):
            adopt("abc", start(tmp_path).root)

    def test_it_only_says_so(self, tmp_path: Path) -> None:
        repo = start(tmp_path)
        repo.write({"layerguard.toml": AB + MORE})
        assert adopt("more", repo.root, write=False) == Adopted(ALLOWANCES, added=1, left=0)
        assert run(repo.root, "ratchet", "--adopt", "more", "--check").returncode == 1
        assert run(repo.root, "ratchet", "--adopt", "more", environment={"CI": "1"}).returncode == 1
        assert repo.text() == PLAIN[ALLOWANCES]
        assert run(repo.root, "ratchet", "--adopt", "more").returncode == 0
        assert repo.check().violations == ()

    def test_rows_of_a_registry(self, tmp_path: Path) -> None:
        registry = '[[registry]]\nmodule = "app.a.m"\nname = "TABLE"\ntemplate = "app.b.{0}"\n'
        files = PLAIN | {
            "layerguard.toml": registry,
            "app/a/m.py": "TABLE = ['x']\n",
            ALLOWANCES: "version = 1\n",
        }
        repo = start(tmp_path, files)
        repo.write({"layerguard.toml": registry + AB, "app/a/m.py": "TABLE = ['x', 'y']\n"})
        assert str(adopt("ab", repo.root)) == (
            "adopted 1; 1 did not stand in the base's code and stays a violation"
        )
        assert f'"{OLD} (dynamic)" = {{}}' in repo.text()

    @pytest.mark.parametrize("commits", [0, None])
    def test_without_a_past(self, tmp_path: Path, commits: int | None) -> None:
        """Outside git, and before the first commit, all is taken over."""
        repo = Repo(write(tmp_path, PLAIN | {ALLOWANCES: "version = 1\n"}))
        if commits is not None:
            repo.git("init", "-q")
        assert str(adopt("ab", repo.root)) == "adopted 1"
        assert repo.text() == allow(OLD)
