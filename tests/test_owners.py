from __future__ import annotations

from pathlib import Path

import pytest
from projects import write

from layerguard.errors import UserError
from layerguard.owners import find_owners, parse_owners

GITHUB = """\
# A comment, and a blank line.

*        @all            # everything
*.js     @js @web
docs/*   docs@example.invalid
apps/    @apps
/build/logs/ @logs
/app/a\\ b.py @space
**/deep  @deep
/src/**/x.py @x
/nobody/
!/app/main.py @ignored
/exact @exact
/w?ld/*.py @wild
/dots.py @dots
\\#hash @hash
"""

GITLAB = """\
* @all
!*.lock @nobody

[Docs] @docs
docs/
README.md @readme

^[Code][2] @code @@maintainer
*.py
/app/ @app
!/app/generated/
/plain @plain

[DOCS] @more
*.rst
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", ("@all",)),
        ("a/b.js", ("@js", "@web")),
        ("docs/index.md", ("docs@example.invalid",)),
        ("docs/deeper/index.md", ("@all",)),
        ("other/docs/index.md", ("@all",)),
        ("apps/x", ("@apps",)),
        ("other/apps/x/y.js", ("@apps",)),
        ("build/logs/x", ("@logs",)),
        ("other/build/logs/x", ("@all",)),
        ("app/a b.py", ("@space",)),
        ("one/deep/x.py", ("@deep",)),
        ("deep", ("@deep",)),
        ("src/x.py", ("@x",)),
        ("src/a/b/x.py", ("@x",)),
        ("nobody/x.js", ()),
        ("app/main.py", ("@all",)),
        ("exact", ("@exact",)),
        ("exact/x/y", ("@exact",)),
        ("exactly", ("@all",)),
        ("wild/x.py", ("@wild",)),
        ("wild/x/y.py", ("@all",)),
        ("dots_py", ("@all",)),
        ("a/#hash", ("@hash",)),
    ],
)
def test_github(path: str, owners: tuple[str, ...]) -> None:
    assert parse_owners(GITHUB, ".github/CODEOWNERS").of(path) == owners


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("x", ("@all",)),
        ("poetry.lock", ()),
        ("a/docs/x", ("@all", "@docs")),
        ("a/README.md", ("@all", "@readme")),
        ("docs/x.rst", ("@all", "@more")),
        ("x.py", ("@all", "@code", "@@maintainer")),
        ("app/x.py", ("@all", "@app")),
        ("app/generated/x.py", ("@all",)),
        ("plain", ("@all", "@plain")),
        ("plain/x", ("@all",)),
    ],
)
def test_gitlab(path: str, owners: tuple[str, ...]) -> None:
    assert parse_owners(GITLAB, "CODEOWNERS").of(path) == owners


def test_a_file_of_no_section_is_gitlabs_where_it_lies() -> None:
    text = "docs/x @x\n"
    assert parse_owners(text, ".gitlab/CODEOWNERS").of("a/docs/x") == ("@x",)
    assert parse_owners(text, "docs/CODEOWNERS").of("a/docs/x") == ()


def test_a_section_means_nothing_to_github() -> None:
    assert parse_owners("* @all\n[x] @x\n/y\n", ".github/CODEOWNERS").of("z") == ("@all",)


def test_where_it_is_looked_for(tmp_path: Path) -> None:
    assert find_owners(tmp_path) is None
    for path in (".gitlab/CODEOWNERS", "docs/CODEOWNERS", "CODEOWNERS", ".github/CODEOWNERS"):
        write(tmp_path, {path: f"\ufeff* @{path}\r\n"})
        owners = find_owners(tmp_path)
        assert owners
        assert (owners.path, owners.of("x")) == (path, (f"@{path}",))


def test_one_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"CODEOWNERS": ""})

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UserError) as caught:
        find_owners(tmp_path)
    assert caught.value.message == "CODEOWNERS: the file cannot be read: Permission denied."
