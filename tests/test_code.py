from __future__ import annotations

from codecs import BOM_UTF8

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layerguard.code import Code
from layerguard.code.decoding import Unreadable, decode


def test_decoding_as_python_does() -> None:
    assert decode(b"x = 1\r\ny\rz\n") == "x = 1\ny\nz\n"
    assert decode(BOM_UTF8 + "ñ".encode()) == "ñ"
    assert decode(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n") == "# -*- coding: latin-1 -*-\nx = 'é'\n"
    assert decode(b"#!/bin/sh\n# vim: set fileencoding=cp1252 :\n'\x80'").endswith("'€'")
    assert decode(b"\n \x0c# coding=cp1252\n'\x80'").endswith("'€'")
    assert decode(BOM_UTF8 + b"# coding: utf8\n") == "# coding: utf8\n"


def test_an_encoding_counts_on_the_first_two_lines_and_only_behind_comments() -> None:
    assert decode("x = 1\n# coding: latin-1\n'é'".encode()).endswith("'é'")
    assert decode("\n\n# coding: latin-1\n'é'".encode()).endswith("'é'")
    assert decode("'''\n# coding: latin-1\né'''".encode()).endswith("é'''")


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"x = 1\ny = \0", 2, 5, "it holds NUL bytes, so it is no Python source"),
        (b"x\r\n\xc3\xa9 = '\xff'", 2, 6, "it is not utf-8: invalid start byte"),
        (b"#\n# coding: klingon\n", 2, 1, "its encoding 'klingon' is unknown"),
        (b"# coding: klingon\n", 1, 1, "its encoding 'klingon' is unknown"),
        (
            BOM_UTF8 + b"# coding: latin-1\n",
            1,
            1,
            "it starts with a UTF-8 mark, but says that it is 'latin-1'",
        ),
        (b"# coding: ascii\n\xc3\xa9", 2, 1, "it is not ascii: ordinal not in range(128)"),
    ],
)
def test_what_is_no_text(data: bytes, line: int, column: int, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert (caught.value.line, caught.value.column, caught.value.reason) == (line, column, reason)


def test_an_encoding_that_is_no_text_encoding() -> None:
    with pytest.raises(Unreadable, match="its encoding 'rot13'"):
        decode(b"# coding: rot13\nx\n")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("x = 'a' # b", 'x = """    '),
        ("'a' \"b'\" ''", '""" """" ""'),
        ("'''a\n'b'''' '", '"' * 13),
        ("x = r'\\'' + y", 'x = """"" + y'),
        ("rb'a' Rb'' bR''", '""""" """" """"'),
        ("xr'a'", 'xr"""'),
        ("a \\\n b", "a    b"),
        ("'a\\\nb'", '"' * 4 + '""'),
        ("f'a{b}c'", '"""{b}""'),
        ("f'{b!r:>{c}} {{d}}'", '""{b!r""""" }"""""""'.replace(" ", "")),
        ("f'{b[\"c\"]}'", '""{b["""]}"'),
        ("f'{b['c']}'", '""{b["""]}"'),
        ("f'{f'{1}'}'", '""{""{1}"}"'),
        ("t'a{b}'", '"""{b}"'),
        ("f'{x # }\n}'", '""{x    \n}"'),
        ("f'{\n1} import a'", '""{\n1}""""""""""'),
        ("f'{f\"{\n1} \"}'; b", '""{""{\n1}""}"; b'),
        ("f'{x[\n\"}'\"\n]}' 'c'", '""{x[\n""""\n]}" """'),
        ("f'{x", "f'{x"),
        ("'x", "'x"),
        ("rf'\\{x}'", '""""{x}"'),
        ("f'\\N{DASH}{x}'", '"' * 10 + '{x}"'),
        ("f'{x:=5}'", None),
        ("# 'a\nb", "    \nb"),
    ],
)
def test_masking(text: str, masked: str | None) -> None:
    code = Code(text)
    assert len(code.masked) == len(text)
    if masked is not None:
        assert code.masked == masked


def test_strings_by_the_offset_where_they_begin() -> None:
    text = 'x = rb\'a\' + """b""" + f\'c{d}\''
    strings = Code(text).strings
    assert [(s.start, s.end, s.body, s.close, s.prefix, s.field) for s in strings.values()] == [
        (4, 9, 7, 8, "rb", -1),
        (12, 19, 15, 16, "", -1),
        (22, 29, 24, 28, "f", 25),
    ]
    assert list(strings) == [4, 12, 22]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a.b'", "a.b"),
        ("''", ""),
        ("''''''", ""),
        ("'''a'''", "a"),
        ("'a\\x2eb'", "a.b"),
        ("r'a\\x2eb'", "a\\x2eb"),
        ("'a\\\nb'", "ab"),
        ("b'a'", ""),
        ("f'a.{b}'", "a."),
        ("f'{{a}}'", "{a}"),
        ("f'{{a}}{b}'", "{a}"),
        ("t'a.{b}'", "a."),
        ("u'a'", "a"),
        ("'\\N{BULLET}'", "•"),
        ("'\\xz'", ""),
    ],
)
def test_what_a_literal_means(literal: str, value: str) -> None:
    code = Code(literal)
    (token,) = code.strings.values()
    assert code.value(token) == value


def test_places_count_from_one_in_characters() -> None:
    code = Code("é = 1\n\n😀x\n")
    assert code.place(0) == (1, 1)
    assert code.place(8) == (3, 2)
    assert code.place(7) == (3, 1)
    assert code.place(4) == (1, 5)
    assert code.place(10) == (4, 1)


@given(st.text(alphabet="abfrt'\"{}:!#\\\n ()[]=.", max_size=60))
def test_any_text_is_masked_character_for_character(text: str) -> None:
    code = Code(text)
    assert len(code.masked) == len(text)
    assert code.masked.count("\n") <= text.count("\n")
    for start, token in code.strings.items():
        assert start == token.start < token.body <= token.close < token.end <= len(text)
        code.value(token)
