from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from projects import allow

from layerguard.allowances import Allowances, Entry, complaints, judge, parse_allowances, read_allowances
from layerguard.allowances.rewriting import add_entries, rewrite
from layerguard.errors import UserError
from layerguard.model import Location, Violation

FORM = 'Write it as "importer:scope -> imported" = {}; a mark such as (typing) may follow.'
HEAD = "version = 1\n\n[allow.ab]\n"
ALONE = "p.toml: the allowance '{}' of '{}' does not stand on a line of its own."


def complaint(text: str) -> tuple[str, str]:
    with pytest.raises(UserError) as caught:
        parse_allowances(text, "p.toml")
    return caught.value.message, caught.value.hint


def violation(key: str, contract: str = "ab") -> Violation:
    return Violation("LG103", "m", Location("app/a.py", 1, 1, 1, 2), contract=contract, key=key)


class TestParse:
    def test_everything_that_an_entry_can_be(self) -> None:
        text = (
            "# Ours.\n"
            "version = 1 # one\n"
            "\n"
            "[allow.endpoints] # by role\n"
            '"app.ops -> app.images.codec" = {}\n'
            "# between\n"
            "\n"
            "  'app.ops -> app.images.types (typing)'   =   { }   # literal quotes\n"
            '"app.ops:Ops.health -> app.images" = { reason = "needs [a] # split", ticket = "APP-91", '
            "review-by = 2027-03-31 }\n"
            '"app.ops -> app.x (dynamic)".reason = "dotted"\n'
            '[ allow . "old-images" ]\n'
            '"docs/how to serve.md -> app.old" = {}\n'
            "[allow.'l']\n"
            '"tests.t:test \\u00e9 -> app.old (string)" = {}'
        )
        assert parse_allowances(text, "p.toml") == Allowances(
            "p.toml",
            text,
            (
                Entry("endpoints", "app.ops -> app.images.codec", 5),
                Entry("endpoints", "app.ops -> app.images.types (typing)", 8),
                Entry(
                    "endpoints",
                    "app.ops:Ops.health -> app.images",
                    9,
                    "needs [a] # split",
                    "APP-91",
                    date(2027, 3, 31),
                ),
                Entry("endpoints", "app.ops -> app.x (dynamic)", 10, "dotted"),
                Entry("old-images", "docs/how to serve.md -> app.old", 12),
                Entry("l", "tests.t:test é -> app.old (string)", 14),
            ),
        )

    @pytest.mark.parametrize(
        ("text", "message", "hint"),
        [
            ("", "p.toml: the allowance file has no 'version'.", "This layerguard reads version = 1."),
            (
                "[allow.ab]\n",
                "p.toml: the allowance file has no 'version'.",
                "This layerguard reads version = 1.",
            ),
            (
                "version = 2\n",
                "p.toml: the allowance file has the version '2'.",
                "This layerguard reads version = 1.",
            ),
            (
                "version = true\n",
                "p.toml: the allowance file has the version 'True'.",
                "This layerguard reads version = 1.",
            ),
            (
                "version = 1.0\n",
                "p.toml: the allowance file has the version '1.0'.",
                "This layerguard reads version = 1.",
            ),
            (
                "version = 1\nallowed = 1\n",
                "p.toml: unknown key 'allowed'.",
                "An allowance file holds 'version' and [allow.…] tables.",
            ),
            (
                "version = 1\nallow = []\n",
                "p.toml: 'allow' must be a table.",
                "Write [allow.contract-id].",
            ),
            ("version = 1\nallow.ab = 1\n", "p.toml: 'allow.ab' must be a table.", "Write [allow.ab]."),
            (
                f'{HEAD}"a -> b" = {{}}\n"a -> b" = {{}}\n',
                "p.toml: line 5, column 14: Cannot overwrite a value.",
                "",
            ),
            (
                f'{HEAD}<<<<<<< ours\n"a -> b" = {{}}\n=======\n>>>>>>> theirs\n',
                "p.toml: line 4, column 1: a merge conflict is not resolved here: '<<<<<<< ours'.",
                "Resolve the conflict and remove its markers.",
            ),
            (
                f'{HEAD}"a -> b" = {{}}\n=======\n'.replace("\n", "\r\n"),
                "p.toml: line 5, column 1: a merge conflict is not resolved here: '======='.",
                "Resolve the conflict and remove its markers.",
            ),
            (
                f'{HEAD}"app.* -> b" = {{}}\n',
                "p.toml: line 4: the allowance 'app.* -> b' holds a wildcard; an allowance names one import.",
                FORM,
            ),
            (f'{HEAD}"a.b" = {{}}\n', "p.toml: line 4: 'a.b' is no allowance.", FORM),
            (f'{HEAD}"" = {{}}\n', "p.toml: line 4: '' is no allowance.", FORM),
            (f'{HEAD}"a -> b (text)" = {{}}\n', "p.toml: line 4: 'a -> b (text)' is no allowance.", FORM),
            (f'{HEAD}"a ->b" = {{}}\n', "p.toml: line 4: 'a ->b' is no allowance.", FORM),
            (f'{HEAD}"a -> b " = {{}}\n', "p.toml: line 4: 'a -> b ' is no allowance.", FORM),
            (
                f'{HEAD}"a -> b" = true\n',
                "p.toml: line 4: the allowance 'a -> b' must be a table, not the boolean true.",
                'Write "a -> b" = {}.',
            ),
            (
                f'{HEAD}"a -> b" = {{ raeson = "x" }}\n',
                "p.toml: line 4: the allowance 'a -> b': unknown key 'raeson'.",
                "Did you mean 'reason'?",
            ),
            (
                f'{HEAD}"a -> b" = {{ why = "x" }}\n',
                "p.toml: line 4: the allowance 'a -> b': unknown key 'why'.",
                "Known are 'reason', 'ticket', 'review-by'.",
            ),
            (
                f'{HEAD}"a -> b" = {{ review-by = 2027-01-01, ticket = 91 }}\n',
                "p.toml: line 4: the allowance 'a -> b': 'ticket' must be a string, not an integer.",
                "",
            ),
            (
                f'{HEAD}"a -> b" = {{ review-by = "next year" }}\n',
                "p.toml: line 4: the allowance 'a -> b': 'review-by' must be a date, not a string.",
                "",
            ),
            (
                f'{HEAD}"a -> b" = {{ review-by = 2027-01-01T10:00:00 }}\n',
                "p.toml: line 4: the allowance 'a -> b': 'review-by' must be a date, not a date with a time.",
                "",
            ),
        ],
    )
    def test_complaints(self, text: str, message: str, hint: str) -> None:
        assert complaint(text) == (message, hint)

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param('version = 1\n[allow.ab."a -> b"]\nreason = "x"\n', id="sub-table"),
            pytest.param('version = 1\n[allow]\nab = { "a -> b" = {} }\n', id="one table in a line"),
            pytest.param('version = 1\n[allow]\nab."a -> b" = {}\n', id="dotted below [allow]"),
            pytest.param('version = 1\nallow.ab."a -> b" = {}\n', id="dotted at the top"),
            pytest.param('version = 1\n["allow".ab]\n"a -> b" = {}\n', id="quoted word allow"),
            pytest.param(f'{HEAD}"a -> b" = {{ reason = """x\ny""" }}\n', id="text of two lines"),
            pytest.param(
                f'{HEAD}"a -> b" = {{ reason = """\n"a -> b" = {{}}\n""" }}\n', id="entry within a text"
            ),
            pytest.param(
                f'{HEAD}"a -> b".reason = "x"\n"a -> b".ticket = "y"\n', id="entry on several lines"
            ),
        ],
    )
    def test_an_entry_that_is_not_one_line_is_refused(self, text: str) -> None:
        tomli.loads(text)
        hint = "Write it below [allow.ab], as one line."
        assert complaint(text) == (ALONE.format("a -> b", "ab"), hint)

    def test_crlf(self) -> None:
        text = f'{HEAD}# x\n"a -> b" = {{}} # y\n\n[allow.cd]\n"a -> c" = {{}}\n'.replace("\n", "\r\n")
        allowances = parse_allowances(text, "p.toml")
        assert allowances.entries == (Entry("ab", "a -> b", 5), Entry("cd", "a -> c", 8))
        assert rewrite(allowances, allowances.entries[:1]) == text.replace('"a -> b" = {} # y\r\n', "")

    @pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
    def test_only_a_line_feed_ends_a_line(self, character: str) -> None:
        text = f'# one{character}two\n{HEAD}"a -> b" = {{}}\n"a -> c" = {{}} # {character}\n'
        allowances = parse_allowances(text, "p.toml")
        assert [entry.line for entry in allowances.entries] == [5, 6]
        assert rewrite(allowances, allowances.entries[1:]) == text.rpartition('"a -> c"')[0]

    @pytest.mark.parametrize(
        ("key", "importer", "package"),
        [
            ("app.a:C.f -> app.b.x (typing)", "app.a", "app.b"),
            ("app.a -> pickle", "app.a", ""),
            ("docs/a -> b.md -> app.old", "docs/a -> b.md", "app"),
        ],
    )
    def test_parts_of_a_key(self, key: str, importer: str, package: str) -> None:
        entry = Entry("ab", key, 1)
        assert (entry.importer, entry.package) == (importer, package)


class TestRead:
    def test_a_missing_file_is_empty_unless_it_is_named(self, tmp_path: Path) -> None:
        assert read_allowances(tmp_path, "no.toml", named=False) == Allowances("no.toml")
        with pytest.raises(
            UserError,
            match=r"^no\.toml: there is no such file, but 'allowances' in the configuration names it\.$",
        ):
            read_allowances(tmp_path, "no.toml", named=True)

    def test_a_broken_link_is_not_empty(self, tmp_path: Path) -> None:
        (tmp_path / "a.toml").symlink_to("gone.toml")
        with pytest.raises(UserError, match=r"^a\.toml: this link leads to no file\.$"):
            read_allowances(tmp_path, "a.toml", named=False)

    def test_line_ends_are_read_as_they_are(self, tmp_path: Path) -> None:
        (tmp_path / "a.toml").write_bytes(b"version = 1\r\n")
        assert read_allowances(tmp_path, "a.toml", named=False).text == "version = 1\r\n"

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"version = 1\n# \xff\n", "a.toml: line 2, column 3: the file is not UTF-8 (byte 0xff)."),
            (
                b"\xef\xbb\xbfversion = 1\n",
                (
                    "a.toml: line 1, column 1: the file starts with a byte order mark, "
                    "which TOML does not allow."
                ),
            ),
        ],
    )
    def test_bytes_that_are_no_toml(self, tmp_path: Path, data: bytes, message: str) -> None:
        (tmp_path / "a.toml").write_bytes(data)
        with pytest.raises(UserError) as caught:
            read_allowances(tmp_path, "a.toml", named=False)
        assert caught.value.message == message


class TestJudge:
    def test_marks_what_an_entry_allows_and_tells_the_rest(self) -> None:
        allowances = parse_allowances(
            f'{HEAD}"a -> b" = {{}}\n"a -> gone" = {{}}\n"a -> unseen" = {{}}\n"c -> d" = {{}}\n'
            '[allow.cold]\n"a -> b" = {}\n[allow.nobody]\n"a -> b" = {}\n',
            "p.toml",
        )
        used, gone, unseen, typing, cold, nobody = allowances.entries
        violations = [
            violation("a -> b"),
            violation("a -> b"),
            violation("a -> b (typing)"),
            violation("a -> b", "cold"),
            violation(""),
        ]
        judgement = judge(
            violations,
            allowances,
            known={"ab", "cold"},
            frozen={"cold"},
            judged={used, gone, typing, cold},
        )
        assert [each.allowed for each in judgement.violations] == [True, True, False, False, False]
        assert [each.key for each in judgement.violations] == [each.key for each in violations]
        assert judgement.used == (used,)
        assert judgement.stale == (gone, typing, cold)
        assert judgement.unknown == (nobody,)
        assert unseen not in judgement.stale
        ratchet = "Run `layerguard ratchet`, which removes it."
        assert complaints(judgement, "p.toml", {"cold"}) == [
            Violation(
                code,
                message,
                Location("p.toml", line, 1, line, 1),
                contract=contract,
                hint=hint,
            )
            for code, message, line, contract, hint in [
                ("LG201", "the allowance 'a -> gone' is no longer needed", 5, "ab", ratchet),
                ("LG201", "the allowance 'c -> d' is no longer needed", 7, "ab", ratchet),
                (
                    "LG201",
                    "the contract is frozen, so the allowance 'a -> b' allows nothing",
                    9,
                    "cold",
                    ratchet,
                ),
                (
                    "LG203",
                    "the allowance 'a -> b' is of contract 'nobody', which does not exist",
                    11,
                    "nobody",
                    "Mend the contract's id, or run `layerguard ratchet`, which removes the allowance.",
                ),
            ]
        ]

    def test_an_empty_key_is_allowed_by_nothing(self) -> None:
        allowances = Allowances("p.toml", "", (Entry("ab", "", 1),))
        judgement = judge([violation("")], allowances, known={"ab"}, frozen=(), judged=())
        assert [each.allowed for each in judgement.violations] == [False]
        assert judgement.used == ()


class TestRemove:
    def test_nothing(self) -> None:
        allowances = parse_allowances(allow("a -> b"), "p.toml")
        assert rewrite(allowances, ()) == allowances.text

    def test_an_emptied_table_goes_with_the_blank_lines_above_it(self) -> None:
        text = (
            f'{HEAD}"a -> b" = {{}}\n\n\n[allow.cd] # c\n\n"a -> c" = {{}}\n\n[allow.ef]\n"a -> e" = {{}}\n'
        )
        allowances = parse_allowances(text, "p.toml")
        left = f'{HEAD}"a -> b" = {{}}\n\n\n[allow.ef]\n"a -> e" = {{}}\n'
        assert rewrite(allowances, allowances.entries[1:2]) == left
        assert rewrite(allowances, allowances.entries) == "version = 1\n"

    def test_a_table_with_a_comment_stays(self) -> None:
        text = f'{HEAD}# why\n"a -> b" = {{}}\n\n[allow.cd]\n"a -> c" = {{}}\n# last'
        allowances = parse_allowances(text, "p.toml")
        assert rewrite(allowances, allowances.entries) == f"{HEAD}# why\n\n[allow.cd]\n# last"

    def test_a_table_that_was_empty_already_stays(self) -> None:
        text = f'{HEAD}\n[allow.cd]\n"a -> c" = {{}}\n'
        allowances = parse_allowances(text, "p.toml")
        assert rewrite(allowances, allowances.entries) == HEAD


def test_an_entry_gets_a_new_key_and_keeps_all_else() -> None:
    text = f'{HEAD}# "a -> b"\n"a -> b" = {{ reason = "a -> b" }} # a -> b\n"c -> d" = {{}}\n'
    allowances = parse_allowances(text, "p.toml")
    new = {("ab", "a -> b"): "x:f -> b"}
    left = f'{HEAD}# "a -> b"\n"x:f -> b" = {{ reason = "a -> b" }} # a -> b\n'
    assert rewrite(allowances, allowances.entries[1:], new) == left


# Whatever TOML lets a comment hold, ends of lines of other kinds among it.
COMMENTS = st.text("aé#\"'[]{}=->, \t\u2028\u2029\x85", max_size=8).map("#{}".format)
FILLERS = st.lists(st.one_of(st.just(""), COMMENTS), max_size=2)
NAMES = st.sampled_from(["a", "b", "a.b", "a.b.c", "docs/é"])
KEYS = st.builds(
    "{}{} -> {}{}".format,
    NAMES,
    st.sampled_from(["", ":f", ":C.f"]),
    NAMES,
    st.sampled_from(["", " (typing)", " (dynamic)", " (string)"]),
)
DETAILS = st.sampled_from(
    [
        "{}",
        "{ }",
        '{ reason = "a [b] # c" }',
        "{ ticket = '#1', review-by = 2027-03-31 }",
        '{ reason = "\\u2028\\" = {}" } # "x -> y" = {}',
    ]
)


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = [*draw(FILLERS), "version = 1", *draw(FILLERS)]
    for contract in draw(st.lists(st.sampled_from(["ab", "c-d", "e"]), unique=True)):
        header = draw(st.sampled_from(["[allow.{}]", '[allow."{}"]', "[ allow . '{}' ] # h", " [allow.{}]"]))
        lines += [header.format(contract), *draw(FILLERS)]
        for key in draw(st.lists(KEYS, unique=True, max_size=4)):
            quote = draw(st.sampled_from(["'", '"']))
            indent = draw(st.sampled_from(["", "  ", "\t"]))
            lines += [f"{indent}{quote}{key}{quote} = {draw(DETAILS)}", *draw(FILLERS)]
    return draw(st.sampled_from(["\n", "\r\n"])).join([*lines, *draw(st.sampled_from([[], [""]]))])


def said(entries: Iterable[Entry]) -> list[Entry]:
    """The entries less their lines."""
    return [replace(entry, line=0) for entry in entries]


@given(files(), st.data())
@settings(max_examples=60)
def test_removing_some_leaves_all_else_byte_for_byte(text: str, data: st.DataObject) -> None:
    before = parse_allowances(text, "p.toml")
    gone = data.draw(st.sets(st.sampled_from(before.entries))) if before.entries else set()
    after = parse_allowances(rewrite(before, gone), "p.toml")

    stay = [entry for entry in before.entries if entry not in gone]
    assert said(after.entries) == said(stay)
    removed = {entry.line for entry in gone}
    emptied = {entry.contract for entry in gone} - {entry.contract for entry in stay}
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if number not in removed]
    now = after.text.removesuffix("\n").split("\n")
    # What else is lost are headers of emptied tables, and the blank lines above them.
    lost = []
    for _, line in lines:
        if now and now[0] == line:
            now.pop(0)
        else:
            lost.append(line.strip())
    assert not now
    headers = [line for line in lost if line]
    assert all(line.startswith("[") and any(name in line for name in emptied) for line in headers)
    assert headers or not any(line == "" for line in lost[:-1])
    assert rewrite(after, ()) == after.text


def test_entries_are_added_where_they_belong() -> None:
    text = (
        'version = 1\n\n# of bc\n[allow.bc]\n"a -> c" = {} # kept\n"a -> e" = {}\n\n[allow.de]\n"a -> b" = {}'
    )
    within = add_entries(parse_allowances(text, "p.toml"), "bc", {"a -> b", "a -> d", "a -> f"})
    assert [entry.key for entry in parse_allowances(within, "p.toml").entries[:5]] == [
        *("a -> b", "a -> c", "a -> d", "a -> e", "a -> f")
    ]
    tables = text
    for contract in ("zz", "aa", "cc"):
        tables = add_entries(parse_allowances(tables, "p.toml"), contract, {"x -> y"})
    entries = parse_allowances(tables, "p.toml").entries
    assert list(dict.fromkeys(entry.contract for entry in entries)) == ["aa", "bc", "cc", "de", "zz"]
    assert '\n[allow.aa]\n"x -> y" = {}\n\n# of bc\n[allow.bc]\n' in tables


def test_a_date_is_no_string() -> None:
    text = HEAD + '"a -> b" = { review-by = "2027-01-01" }\n'
    with pytest.raises(UserError, match="'review-by' must be a date, not a string"):
        parse_allowances(text, "p.toml")
