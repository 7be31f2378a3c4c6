from __future__ import annotations

import os
from array import array
from pathlib import Path
from types import SimpleNamespace

import pytest
from clock import settle
from hypothesis import given
from hypothesis import strategies as st

from layerguard.snapshots import WIDTH, are_young, joined, numbers_of, pack, text_of, texts_of, unpack

names = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))
system_names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.binary().map(
    lambda data: os.fsdecode(data.replace(b"\0", b""))
)


class TestPack:
    @given(names, st.lists(st.binary()))
    def test_what_was_packed_comes_back(self, kind: str, parts: list[bytes]) -> None:
        assert [bytes(part) for part in unpack(pack(kind, parts), kind) or ()] == parts

    @given(names, names, st.lists(st.binary()))
    def test_another_kind_is_none(self, kind: str, other: str, parts: list[bytes]) -> None:
        assert (unpack(pack(kind, parts), other) is None) == (kind != other)

    @given(st.lists(st.binary(), min_size=1), st.data())
    def test_a_changed_bit_is_seen(self, parts: list[bytes], data: st.DataObject) -> None:
        packed = bytearray(pack("kind", parts))
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        with pytest.raises(ValueError, match="damaged"):
            unpack(bytes(packed), "kind")

    @given(st.lists(st.binary(), min_size=1), st.data())
    def test_a_lost_end_is_seen(self, parts: list[bytes], data: st.DataObject) -> None:
        packed = pack("kind", parts)
        with pytest.raises(ValueError, match="damaged"):
            unpack(packed[: data.draw(st.integers(0, len(packed) - 1))], "kind")

    @given(st.binary())
    def test_any_bytes_are_damaged(self, data: bytes) -> None:
        with pytest.raises(ValueError, match="damaged"):
            unpack(data, "kind")

    @given(st.lists(system_names))
    def test_texts_come_back(self, texts: list[str]) -> None:
        parts = unpack(pack("kind", [joined(texts)]), "kind")
        assert parts is not None
        assert texts_of(parts[0]) == texts

    @given(system_names)
    def test_a_text_comes_back(self, text: str) -> None:
        assert text_of(memoryview(os.fsencode(text))) == text


def numbers(path: Path) -> list[int]:
    return numbers_of([str(path)])


class TestNumbers:
    def test_they_are_what_the_system_keeps(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_bytes(b"abc")
        found = file.stat()
        assert numbers(file) == [found.st_mtime_ns, 3, found.st_ino, found.st_ctime_ns]

    def test_what_is_not_there_has_none(self, tmp_path: Path) -> None:
        file = tmp_path / "file"
        file.write_bytes(b"")
        for path in (tmp_path / "none", file / "below", tmp_path / ("x" * 5000)):
            assert numbers(path) == [-1] * WIDTH
        assert numbers_of(["a\0b"]) == [-1] * WIDTH

    def test_a_link_has_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("file")
        before = numbers(tmp_path / "link")
        assert before[1] == len("file")
        (tmp_path / "file").write_bytes(b"abc")
        assert numbers(tmp_path / "link") == before

    def test_every_change_changes_them(self, tmp_path: Path) -> None:
        file, other = tmp_path / "file", tmp_path / "other"
        file.write_bytes(b"abc")
        other.write_bytes(b"xyz")
        when = file.stat().st_mtime_ns
        os.utime(other, ns=(when, when))
        seen = [numbers(file)]
        settle()
        file.write_bytes(b"xyz")
        os.utime(file, ns=(when, when))
        seen.append(numbers(file))
        settle()
        file.chmod(0o600)
        seen.append(numbers(file))
        settle()
        other.replace(file)
        seen.append(numbers(file))
        assert [found[:2] for found in seen] == [[when, 3]] * 4
        assert len({tuple(found) for found in seen}) == 4

    def test_a_folder_changes_with_what_is_in_it(self, tmp_path: Path) -> None:
        seen = [numbers(tmp_path)]
        settle()
        (tmp_path / "file").write_bytes(b"")
        seen.append(numbers(tmp_path))
        settle()
        (tmp_path / "file").rename(tmp_path / "other")
        seen.append(numbers(tmp_path))
        settle()
        (tmp_path / "other").unlink()
        seen.append(numbers(tmp_path))
        assert len({tuple(found) for found in seen}) == 4

    def test_large_numbers_of_files_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        large = SimpleNamespace(st_mtime_ns=1, st_size=2, st_ino=(1 << 63) + 3, st_ctime_ns=4)
        monkeypatch.setattr("os.lstat", lambda _: large)
        assert numbers_of(["x"]) == [1, 2, 3, 4]


class TestYoung:
    def test_what_was_written_at_the_moment_is_young(self) -> None:
        found = array("q", [9, 0, 0, 99, 999, 0, 0, 100, 9, 0, 0, 101, -1, -1, -1, -1])
        assert are_young(found, 100) == [1, 2]

    @given(st.lists(st.integers(-1, 9)), st.integers(0, 9))
    def test_only_the_last_of_the_numbers_counts(self, times: list[int], moment: int) -> None:
        found = array("q", [number for time in times for number in (9, 9, 9, time)])
        assert are_young(found, moment) == [place for place, time in enumerate(times) if time >= moment]

    def test_a_time_that_was_set_does_not_make_a_file_old(self, tmp_path: Path) -> None:
        probe, file = tmp_path / "probe", tmp_path / "file"
        probe.write_bytes(b"")
        file.write_bytes(b"")
        os.utime(file, (0, 0))
        assert are_young(numbers_of([str(file)]), probe.stat().st_mtime_ns) == [0]
        settle()
        probe.write_bytes(b"x")
        assert are_young(numbers_of([str(file)]), probe.stat().st_mtime_ns) == []
