from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from layerguard.config import find_root, load_config
from layerguard.config.declarations import PATHS, PATTERNS, SCOPED_PATTERNS, Registry, find_ids
from layerguard.config.pattern_syntax import find_fault
from layerguard.config.settings import Settings
from layerguard.contracts import KINDS
from layerguard.contracts.acyclic import Acyclic
from layerguard.contracts.independence import Independence
from layerguard.contracts.removed import Removed
from layerguard.errors import UserError
from layerguard.tables import read_table
from layerguard.toml import parse_toml

CONTRACT = "[[contract]]\nid = 'p'\nkind = 'independence'\nmodules = ['app.*']\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def complaint(root: Path, text: str, files: dict[str, str] | None = None) -> UserError:
    """What load_config says to a layerguard.toml."""
    write(root, {"layerguard.toml": text, **(files or {})})
    with pytest.raises(UserError) as caught:
        load_config(root)
    return caught.value


def contract(**options: object) -> str:
    """A layerguard.toml with one contract, an independence called 'p' unless told otherwise."""
    values: dict[str, object] = {"id": "p", "kind": "independence", "modules": ["app.*"], **options}
    lines = [f"{key.replace('_', '-')} = {value}" for key, value in _toml(values).items() if value]
    return "\n".join(["[[contract]]", *lines])


def _toml(values: dict[str, object]) -> dict[str, str]:
    return {key: _value(value) for key, value in values.items()}


def _value(value: object) -> str:
    """A value as TOML has it: as JSON does, but for tables; None is left out."""
    if isinstance(value, dict):
        pairs = (f"{_value(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return "" if value is None else msgspec.json.encode(value).decode()


class TestWhole:
    def test_every_key(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            {
                "layerguard.toml": (
                    'source-roots = ["src", "packages/*/src"]\nexclude = ["**/_vendor/", "!keep"]\n'
                    'contracts = ["rules/*.toml"]\n'
                    'allowances = "./rules/allowed.toml"\nbase = "origin/main"\n'
                    '[[registry]]\nmodule = "app.registry"\nname = "_MODELS"\ntemplate = "app.{0}.{key}"\n'
                    + CONTRACT
                ),
                "rules/b.toml": "[[contract]]\nkind = 'acyclic'\nid = 'b'\npackages = ['app']\ndepth = 2\n",
                "rules/a.toml": (
                    "[[contract]]\nid = 'old'\nkind = 'removed'\n"
                    "[contract.modules]\n'app.old' = 'app.new'\n'app.x' = ''\n"
                    "[[registry]]\nmodule = 'm'\nname = 'T'\ntemplate = '{0}'\n"
                ),
                "rules/allowed.toml": "version = 1\n",
            },
        )
        config = load_config(tmp_path)
        assert config.root == tmp_path
        assert config.path == "layerguard.toml"
        assert config.source_roots == ("src", "packages/*/src")
        assert config.exclude == ("**/_vendor/", "!keep")
        assert config.allowances == "rules/allowed.toml"
        assert config.allowances_named
        assert config.base == "origin/main"
        assert config.registries == (
            Registry(module="app.registry", name="_MODELS", template="app.{0}.{key}"),
            Registry(module="m", name="T", template="{0}"),
        )
        assert config.contracts == (
            Independence(id="p", modules=("app.*",)),
            Removed(id="old", modules={"app.old": "app.new", "app.x": ""}),
            Acyclic(id="b", packages=("app",), depth=2),
        )
        assert config.places == {
            "p": ("layerguard.toml", 11),
            "old": ("rules/a.toml", 2),
            "b": ("rules/b.toml", 3),
        }

    def test_defaults(self, tmp_path: Path) -> None:
        config = load_config(write(tmp_path, {"layerguard.toml": CONTRACT}))
        assert config.source_roots is None
        assert config.exclude == ()
        assert config.allowances == "contracts/allowances.toml"
        assert not config.allowances_named
        assert config.base is None
        assert config.registries == ()
        made = config.contracts[0]
        assert (made.severity, made.reach, made.via, made.when) == (
            "error",
            "direct",
            None,
            ("load", "deferred", "typing"),
        )

    def test_default_contract_files_without_the_allowance_file(self, tmp_path: Path) -> None:
        files = {
            "layerguard.toml": "",
            "contracts/x.toml": CONTRACT,
            "contracts/allowances.toml": "version = 1\n",
        }
        assert load_config(write(tmp_path, files)).places == {"p": ("contracts/x.toml", 2)}

    def test_pyproject(self, tmp_path: Path) -> None:
        text = (
            "[tool.other]\nid = 'p'\n[tool.layerguard]\nbase = 'main'\n"
            "[[tool.layerguard.contract]]\nid = \"p\"\nkind = 'acyclic'\npackages = ['a']\n"
        )
        config = load_config(write(tmp_path, {"pyproject.toml": text}))
        assert (config.path, config.base) == ("pyproject.toml", "main")
        assert config.places == {"p": ("pyproject.toml", 6)}

    def test_a_pattern_that_also_matches_the_configuration_reads_it_once(self, tmp_path: Path) -> None:
        config = load_config(
            write(tmp_path, {"layerguard.toml": "contracts = ['*.toml', '**/*.toml']\n" + CONTRACT})
        )
        assert config.places == {"p": ("layerguard.toml", 3)}


class TestFindRoot:
    def test_nearest_folder_upwards(self, tmp_path: Path) -> None:
        write(tmp_path, {"layerguard.toml": "", "a/layerguard.toml": "", "a/b/c/x.py": ""})
        assert find_root(tmp_path / "a/b/c") == (tmp_path / "a", "layerguard.toml")
        assert find_root(tmp_path / "a/b/c/x.py") == (tmp_path / "a", "layerguard.toml")
        assert find_root(tmp_path / "a/..") == (tmp_path, "layerguard.toml")

    def test_own_file_wins(self, tmp_path: Path) -> None:
        write(tmp_path, {"layerguard.toml": "", "pyproject.toml": "[tool.layerguard]\n"})
        assert find_root(tmp_path) == (tmp_path, "layerguard.toml")

    @pytest.mark.parametrize(
        "text",
        [
            "[tool.ruff]\n",
            "tool = 1\n",
            "dependencies = ['layerguard']\n",
            "broken [\n",
            "# layerguard\nbroken [\n",
        ],
    )
    def test_other_pyproject_is_passed_over(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, {"layerguard.toml": "", "a/pyproject.toml": text})
        assert find_root(tmp_path / "a") == (tmp_path, "layerguard.toml")

    def test_pyproject_of_another_encoding_is_passed_over(self, tmp_path: Path) -> None:
        write(tmp_path, {"layerguard.toml": "", "a/x": ""})
        (tmp_path / "a/pyproject.toml").write_bytes("# café layerguard".encode("latin-1"))
        assert find_root(tmp_path / "a") == (tmp_path, "layerguard.toml")

    def test_broken_pyproject_of_ours_is_told(self, tmp_path: Path) -> None:
        write(tmp_path, {"layerguard.toml": "", "a/pyproject.toml": "[tool.layerguard]\nx = \n"})
        with pytest.raises(UserError, match=r"^pyproject\.toml: line 2, column 5: Invalid value"):
            find_root(tmp_path / "a")

    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"^no configuration: neither 'layerguard\.toml' nor"):
            find_root(tmp_path)

    def test_no_such_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="there is no such folder"):
            find_root(tmp_path / "gone")


class TestFiles:
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (
                b"[[contract]\n",
                "layerguard.toml: line 1, column 11: Expected ']]' at the end of an array declaration.",
            ),
            (b"a = 1\na = 2\n", "layerguard.toml: line 2, column 6: Cannot overwrite a value."),
            (b"# \xe4\n", "layerguard.toml: line 1, column 3: the file is not UTF-8 (byte 0xe4)."),
            (
                b"#\n# \xc3\xa4 \xe4\n",
                "layerguard.toml: line 2, column 5: the file is not UTF-8 (byte 0xe4).",
            ),
            (
                b"\xef\xbb\xbfa = 1\n",
                (
                    "layerguard.toml: line 1, column 1: the file starts with a byte order mark, "
                    "which TOML does not allow."
                ),
            ),
            (
                b"a = 1\r\n<<<<<<< HEAD\r\nb = 1\r\n=======\r\n>>>>>>> x\r\n",
                "layerguard.toml: line 2, column 1: a merge conflict is not resolved here: '<<<<<<< HEAD'.",
            ),
            (b"a = " + b"[" * 9999, "layerguard.toml: line 1, column 1: the values are nested too deeply."),
        ],
    )
    def test_no_toml(self, tmp_path: Path, data: bytes, message: str) -> None:
        (tmp_path / "layerguard.toml").write_bytes(data)
        with pytest.raises(UserError) as caught:
            load_config(tmp_path)
        assert caught.value.message == message

    def test_an_integer_of_too_many_digits(self, tmp_path: Path) -> None:
        assert complaint(tmp_path, "a = " + "9" * 5000).message.startswith(
            "layerguard.toml: line 1, column 1: "
        )

    def test_marker_in_a_string_is_no_conflict(self, tmp_path: Path) -> None:
        config = load_config(write(tmp_path, {"layerguard.toml": CONTRACT + "because = '''\n=======\n'''\n"}))
        assert config.contracts[0].because == "=======\n"

    def test_folder(self, tmp_path: Path) -> None:
        (tmp_path / "layerguard.toml").mkdir()
        with pytest.raises(UserError, match=r"^layerguard\.toml: this is a folder, not a file\.$"):
            load_config(tmp_path)

    def test_broken_link(self, tmp_path: Path) -> None:
        (tmp_path / "layerguard.toml").symlink_to("gone.toml")
        with pytest.raises(UserError, match=r"^layerguard\.toml: this link leads to no file\.$"):
            load_config(tmp_path)

    def test_unreadable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, {"layerguard.toml": ""})

        def refuse(_: Path) -> bytes:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(
            UserError, match=r"^layerguard\.toml: the file cannot be read: Permission denied\.$"
        ):
            load_config(tmp_path)


class TestTopLevel:
    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("", "no contract: neither this file nor contracts/*.toml holds any.", None),
            ("sourceroots = ['src']", "unknown key 'sourceroots'.", "Did you mean 'source-roots'?"),
            ("zzz = 1", "unknown key 'zzz'.", None),
            ("[tool.layerguard]", "unknown key 'tool'.", None),
            ("exclude = 'x'", "'exclude' must be a list of strings, not a string.", 'Write exclude = ["x"].'),
            ("exclude = ['x', 1]", "'exclude' must be a list of strings, but item 2 is an integer.", ""),
            ("exclude = ['a', '']", "'exclude': '' is not a gitignore pattern.", ""),
            ("exclude = ['!']", "'exclude': '!' is not a gitignore pattern.", ""),
            ("base = true", "'base' must be a string, not the boolean true.", ""),
            ("base = ''", "'base': '' is not a revision.", ""),
            ("base = '--upload-pack=x'", "'base': '--upload-pack=x' is not a revision.", ""),
            ("allowances = 2027-01-01", "'allowances' must be a string, not a date.", ""),
            ("allowances = '../x.toml'", "'allowances': '../x.toml' is outside the project.", None),
            ("allowances = 'a/../../x.toml'", "'allowances': 'a/../../x.toml' is outside the project.", None),
            ("allowances = 'C:/x.toml'", "'allowances': 'C:/x.toml' is outside the project.", None),
            ("contracts = ['/etc/x.toml']", "'contracts': '/etc/x.toml' is outside the project.", None),
            ("contracts = ['a\\b.toml']", "'contracts': 'a\\b.toml' has a backslash.", None),
            ("contracts = ['']", "'contracts' names an empty path.", ""),
            ("contracts = ['rules/*.toml']", "'contracts': 'rules/*.toml' matches no file.", ""),
            ("source-roots = []", "'source-roots' is empty.", None),
            ("source-roots = ['..']", "'source-roots': '..' is outside the project.", None),
            (
                "[contract]",
                "'contract' must be a list of tables, not a table.",
                "Write [[contract]], with two brackets.",
            ),
            ("contract = [1]", "'contract' must be a list of tables, not a list of other things.", None),
            (
                "[registry]",
                "'registry' must be a list of tables, not a table.",
                "Write [[registry]], with two brackets.",
            ),
        ],
    )
    def test_complaint(self, tmp_path: Path, text: str, message: str, hint: str | None) -> None:
        error = complaint(
            tmp_path,
            text + ("\n" + CONTRACT if text and "contract]" not in text and "contract =" not in text else ""),
        )
        assert error.message == f"layerguard.toml: {message}"
        if hint is not None:
            assert error.hint == hint

    def test_pyproject_is_named_in_the_hint(self, tmp_path: Path) -> None:
        write(tmp_path, {"pyproject.toml": "[tool.layerguard.contract]\nid = 'x'\n"})
        with pytest.raises(UserError) as caught:
            load_config(tmp_path)
        assert caught.value.hint == "Write [[tool.layerguard.contract]], with two brackets."

    def test_pyproject_that_holds_no_table(self, tmp_path: Path) -> None:
        write(tmp_path, {"pyproject.toml": "[[tool.layerguard]]\n"})
        with pytest.raises(UserError, match=r"\[tool\.layerguard\] must be a table, not a list"):
            load_config(tmp_path)

    def test_every_key_is_described(self) -> None:
        for table in (Settings, Registry):
            for field in msgspec.json.schema(table)["$defs"][table.__name__]["properties"].values():
                assert field["description"].endswith(".")


class TestContractFiles:
    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("exclude = ['x']\n", "c/x.toml: unknown key 'exclude'.", "It belongs into 'layerguard.toml'."),
            ("[[contracts]]\n", "c/x.toml: unknown key 'contracts'.", "It belongs into 'layerguard.toml'."),
            ("[[contrac]]\n", "c/x.toml: unknown key 'contrac'.", "Did you mean 'contract'?"),
            ("[project]\n", "c/x.toml: unknown key 'project'.", "Known are 'contract', 'registry'."),
            ("# all gone\n", "c/x.toml: this file holds no contract and no registry.", ""),
            (
                "version = 1\n[allow.p]\n",
                (
                    "c/x.toml: this looks like an allowance file, "
                    "but the allowance file is 'contracts/allowances.toml'."
                ),
                "Name it in 'layerguard.toml': allowances = \"c/x.toml\".",
            ),
            ("[contract]\n", "c/x.toml: 'contract' must be a list of tables, not a table.", None),
            ("x = \n", "c/x.toml: line 1, column 5: Invalid value.", None),
            ("[[contract]]\n", "c/x.toml: contract number 1: the key 'kind' is missing.", None),
        ],
    )
    def test_complaint(self, tmp_path: Path, text: str, message: str, hint: str | None) -> None:
        error = complaint(tmp_path, "contracts = ['c/*.toml']\n" + CONTRACT, {"c/x.toml": text})
        assert error.message == message
        if hint is not None:
            assert error.hint == hint

    def test_missing_file(self, tmp_path: Path) -> None:
        error = complaint(tmp_path, "contracts = ['c/x.toml']")
        assert error.message == "layerguard.toml: 'contracts': 'c/x.toml': there is no such file."

    def test_same_id_twice(self, tmp_path: Path) -> None:
        error = complaint(tmp_path, "# x\n" + CONTRACT, {"contracts/x.toml": CONTRACT})
        assert (
            error.message
            == "contracts/x.toml: contract 'p', line 2: this id is taken by layerguard.toml, line 3."
        )

    def test_same_id_twice_in_one_file(self, tmp_path: Path) -> None:
        error = complaint(tmp_path, CONTRACT + CONTRACT)
        assert (
            error.message
            == "layerguard.toml: contract 'p', line 6: this id is taken by layerguard.toml, line 2."
        )


class TestContract:
    @pytest.mark.parametrize(
        ("options", "message", "hint"),
        [
            ({"kind": "independance"}, "unknown kind 'independance'.", "Did you mean 'independence'?"),
            ({"kind": None}, "the key 'kind' is missing.", None),
            ({"kind": 1}, "'kind' must be a string, not an integer.", None),
            ({"modules": None, "module": ["a"]}, "unknown key 'module'.", "Did you mean 'modules'?"),
            (
                {"allow_containers": True},
                "unknown key 'allow-containers'.",
                "Did you mean 'allow-container'?",
            ),
            ({"exclude": ["x"]}, "unknown key 'exclude'.", None),
            ({"modules": None}, "the key 'modules' is missing.", ""),
            (
                {"modules": "app.*"},
                "'modules' must be a list of strings, not a string.",
                'Write modules = ["app.*"].',
            ),
            ({"modules": [["a"]]}, "'modules' must be a list of strings, but item 1 is a list.", ""),
            ({"modules": {"a": "b"}}, "'modules' must be a list of strings, not a table.", ""),
            ({"modules": []}, "'modules' is empty, so that the contract is about nothing.", ""),
            ({"via": []}, "'via' is empty, so that the contract is about nothing.", ""),
            ({"via": "import"}, "'via' must be a list of strings, not a string.", 'Write via = ["import"].'),
            (
                {"via": ["import", "dynamics"]},
                "'via' cannot hold 'dynamics'; known are 'dynamic', 'import', 'string', 'text'.",
                "Did you mean 'dynamic'?",
            ),
            ({"via": [True]}, "'via' must be a list of strings, but item 1 is the boolean true.", ""),
            ({"when": ["never"]}, "'when' cannot hold 'never'; known are 'deferred', 'load', 'typing'.", ""),
            (
                {"severity": "warn"},
                "'severity' cannot be 'warn'; known are 'error', 'warning'.",
                "Did you mean 'warning'?",
            ),
            ({"severity": 1}, "'severity' must be a string, not an integer.", ""),
            (
                {"reach": "transitiv"},
                "'reach' cannot be 'transitiv'; known are 'direct', 'load', 'transitive'.",
                "Did you mean 'transitive'?",
            ),
            (
                {"kind": "private", "modules": None, "packages": ["a"], "reach": "load"},
                "'reach' cannot be 'load' for a contract of kind 'private'; it can be 'direct'.",
                "",
            ),
            ({"frozen": 1}, "'frozen' must be true or false, not an integer.", ""),
            ({"because": ["x"]}, "'because' must be a string, not a list.", ""),
            (
                {"kind": "acyclic", "modules": None, "packages": ["a"], "depth": 1.5},
                "'depth' must be an integer, not a number.",
                "",
            ),
            (
                {"kind": "removed", "modules": ["app.old"]},
                "'modules' must be a table of strings, not a list.",
                "",
            ),
            (
                {"kind": "removed", "modules": {"app.old": 1}},
                "'modules' must be a table of strings, but the value of 'app.old' is an integer.",
                "",
            ),
            (
                {"kind": "removed", "modules": {"app.*": ""}},
                "'modules': 'app.*' is a pattern; here one module is named.",
                "",
            ),
            (
                {"kind": "removed", "modules": {"app.old": "app/new.py"}},
                "'modules': 'app/new.py' is a path; modules are named with dots.",
                "Did you mean 'app.new'?",
            ),
            ({"kind": "removed", "modules": {"": "a"}}, "'modules': '' names nothing.", ""),
            (
                {"kind": "removed", "modules": {"a": ""}, "text": [" "]},
                "'text': ' ' is not a gitignore pattern.",
                "",
            ),
            ({"modules": ["app", "a..b"]}, "'modules': 'a..b' has an empty component.", ""),
            (
                {"modules": ["!a"]},
                "'modules': it only takes away ('!a'), and there is nothing to take it from.",
                "",
            ),
            ({"modules": ["a:b"]}, "'modules': 'a:b' names a scope behind ':'.", None),
            ({"exclude_importers": ["a:"]}, "'exclude-importers': 'a:' names no scope behind its ':'.", None),
            (
                {"exclude_importers": ["a:b c"]},
                "'exclude-importers': 'a:b c' holds a space, which is no part of a module's name.",
                "",
            ),
        ],
    )
    def test_complaint(
        self, tmp_path: Path, options: dict[str, object], message: str, hint: str | None
    ) -> None:
        error = complaint(tmp_path, contract(**options))
        assert error.message == f"layerguard.toml: contract 'p': {message}"
        if hint is not None:
            assert error.hint == hint

    @pytest.mark.parametrize(
        ("identity", "message"),
        [
            (None, "contract number 2: the key 'id' is missing."),
            (7, "contract number 2: 'id' must be a string, not an integer."),
            ("My ID", "contract 'My ID': 'id' must be made of a-z, 0-9 and '-' (not 'My ID')."),
            ("", "contract '': 'id' must be made of a-z, 0-9 and '-' (not '')."),
            ("a\n", "contract 'a\n': 'id' must be made of a-z, 0-9 and '-' (not 'a\n')."),
        ],
    )
    def test_id(self, tmp_path: Path, identity: object, message: str) -> None:
        assert complaint(tmp_path, CONTRACT + contract(id=identity)).message == f"layerguard.toml: {message}"

    def test_empty_lists_that_mean_something(self, tmp_path: Path) -> None:
        text = contract(kind="protected", importers=[], exclude_importers=[])
        assert load_config(write(tmp_path, {"layerguard.toml": text})).contracts[0].id == "p"

    def test_a_kind_may_have_problems_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Independence, "problems", lambda _: [("modules", "no good.")], raising=False)
        assert complaint(tmp_path, CONTRACT).message == "layerguard.toml: contract 'p': 'modules': no good."

    def test_scope_of_an_importer(self, tmp_path: Path) -> None:
        text = contract(kind="protected", importers=["app.server:Server.load_*", "!app.x:f"])
        assert load_config(write(tmp_path, {"layerguard.toml": text})).contracts[0].id == "p"

    def test_every_list_of_every_kind_is_checked(self) -> None:
        unchecked = set()
        for kind in KINDS.values():
            for field in msgspec.structs.fields(kind):
                if "str, ..." in str(field.type) or "dict" in str(field.type):
                    unchecked |= {field.encode_name} - PATTERNS - SCOPED_PATTERNS - PATHS
        assert unchecked == {"layers"}  # which has a syntax of its own, and says so in its `problems`


class TestPattern:
    @pytest.mark.parametrize(
        "pattern",
        [
            "app",
            "app.core",
            "app.*",
            "app.*_utils",
            "app.**",
            "app.**.helpers",
            "!app.x",
            "app.**._pb2",
            "*",
            "**",
            "naïve.my-mod",
        ],
    )
    def test_sound(self, pattern: str) -> None:
        assert find_fault(pattern) == ("", "")

    @pytest.mark.parametrize(
        ("pattern", "fault", "hint"),
        [
            ("", "names nothing", ""),
            ("!", "names nothing", ""),
            (".app", "starts with a dot; modules are named from the top", ""),
            ("app.", "has an empty component", ""),
            ("a..b", "has an empty component", ""),
            ("app.***", "has '**' as a part of a component; '**' stands alone between dots", ""),
            ("app.a**", "has '**' as a part of a component; '**' stands alone between dots", ""),
            ("app core", "holds a space, which is no part of a module's name", ""),
            ("app.core ", "holds a space, which is no part of a module's name", ""),
            ("!!app", "holds '!', which is no part of a module's name", ""),
            ("app.[ab]", "holds '[', which is no part of a module's name", ""),
            ("app'", "holds a quote, which is no part of a module's name", ""),
            ("app/core", "is a path; modules are named with dots", "Did you mean 'app.core'?"),
            ("./app/core.py", "is a path; modules are named with dots", "Did you mean 'app.core'?"),
            ("!app/core/__init__.py", "is a path; modules are named with dots", "Did you mean '!app.core'?"),
            ("app\\core\\", "is a path; modules are named with dots", "Did you mean 'app.core'?"),
        ],
    )
    def test_fault(self, pattern: str, fault: str, hint: str) -> None:
        assert find_fault(pattern) == (fault, hint)

    @pytest.mark.parametrize("pattern", ["a:b.*", "!a.b:C.d"])
    def test_scoped(self, pattern: str) -> None:
        assert find_fault(pattern, scoped=True) == ("", "")
        assert find_fault(pattern)[0] == "names a scope behind ':'"


class _Options(msgspec.Struct, frozen=True, rename="kebab"):
    """More than what the kinds of today use."""

    depth: Annotated[int, msgspec.Meta(ge=1)] | None = None
    flags: tuple[bool, ...] = ()
    numbers: tuple[int, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    tables: tuple[dict[str, str], ...] = ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth = 0", "x: 'depth': Expected 'int' >= 1."),
        ("depth = 10:00:00", "x: 'depth' must be an integer, not a time."),
        ("flags = [0]", "x: 'flags' must be a list of booleans, but item 1 is an integer."),
        ("numbers = [1, true]", "x: 'numbers' must be a list of integers, but item 2 is the boolean true."),
        ("rows = [['a'], 'b']", "x: 'rows' must be a list of lists, but item 2 is a string."),
        ("tables = ['a']", "x: 'tables' must be a list of tables, but item 1 is a string."),
    ],
)
def test_types(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_table(parse_toml(text, "x"), _Options, "x")
    assert caught.value.message == message


class TestRegistry:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"name": None}, "the key 'name' is missing."),
            ({"templat": "x"}, "unknown key 'templat'."),
            ({"name": 1}, "'name' must be a string, not an integer."),
            ({"name": "A.b"}, "'name': 'A.b' is not the name of a variable."),
            ({"module": "app.*"}, "'module': 'app.*' is a pattern; here one module is named."),
            ({"module": "app/x.py"}, "'module': 'app/x.py' is a path; modules are named with dots."),
            (
                {"template": "app.{}"},
                "'template': 'app.{}' holds a placeholder that is neither a number nor 'key'.",
            ),
            (
                {"template": "{0.x}"},
                "'template': '{0.x}' holds a placeholder that is neither a number nor 'key'.",
            ),
            (
                {"template": "{0!r}"},
                "'template': '{0!r}' holds a placeholder that is neither a number nor 'key'.",
            ),
            (
                {"template": "{0:>9}"},
                "'template': '{0:>9}' holds a placeholder that is neither a number nor 'key'.",
            ),
            (
                {"template": "{name}"},
                "'template': '{name}' holds a placeholder that is neither a number nor 'key'.",
            ),
            (
                {"template": "app.{0"},
                "'template': 'app.{0' is no template: expected '}' before end of string.",
            ),
            (
                {"template": "app.x"},
                "'template': 'app.x' holds no placeholder, so that every row would name the same module.",
            ),
            (
                {"template": ""},
                "'template': '' holds no placeholder, so that every row would name the same module.",
            ),
            (
                {"template": "a b.{0}"},
                "'template': 'a b.{0}' holds 'a b.', which is no part of a module's name.",
            ),
            ({"template": "a..{0}"}, "'template': 'a..{0}' has an empty component."),
        ],
    )
    def test_complaint(self, tmp_path: Path, changes: dict[str, object], message: str) -> None:
        values = {"module": "app.registry", "name": "T", "template": "app.{0}", **changes}
        lines = [f"{key} = {value}" for key, value in _toml(values).items() if value]
        error = complaint(tmp_path, "\n".join([CONTRACT, "[[registry]]", *lines]))
        assert error.message == f"layerguard.toml: registry number 1: {message}"

    def test_templates(self, tmp_path: Path) -> None:
        rows = "".join(
            f"[[registry]]\nmodule = 'm'\nname = 'T'\ntemplate = '{template}'\n"
            for template in ("{0}", "app.{0}_{12}.x", "{key}:{0}")
        )
        assert len(load_config(write(tmp_path, {"layerguard.toml": CONTRACT + rows})).registries) == 3


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[[contract]]\nid = 'a'\n[[contract]]\n  id=\"b\"\n", {"a": [2], "b": [4]}),
        ("contract = [{ kind = 'x', id = 'a' },\n  {\"id\" = 'b'}]\n", {"a": [1], "b": [2]}),
        ("# id = 'a'\n[[contract]] # id = 'a'\n'id' = 'a'\n", {"a": [3]}),
        ("[[contract]]\nbecause = '''\nid = 'a'\n'''\nhint = \"# '\"\nid = 'a'\n", {"a": [6]}),
        ('[[contract]]\nbecause = """\\"""\nid = "a"\n"""\nid = "a"\n', {"a": [5]}),
        (
            "[[contract]]\nid = 'a'\n[contract.modules]\nid = 'b'\n[[contract]]\nid = 'b'\n",
            {"a": [2], "b": [6]},
        ),
        ("[tool.x]\nid = 'a'\n[tool . layerguard]\n[[ tool.layerguard.contract ]]\nid = 'a'\n", {"a": [5]}),
        ("[[contract]]\r\nid = 'a'\r\n", {"a": [2]}),
        ("[[contract]]\nmodules = [\n  'x',\n]\nmy-id = 'b'\nid = 'a'\n", {"a": [6]}),
    ],
)
def test_find_ids(text: str, lines: dict[str, list[int]]) -> None:
    assert find_ids(text) == lines


def test_an_id_that_is_not_found_has_line_one(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, {"layerguard.toml": CONTRACT.replace("'p'", '"\\u0070"')}))
    assert config.places == {"p": ("layerguard.toml", 1)}
