from __future__ import annotations

import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from layerguard.errors import UserError
from layerguard.files import write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_bytes_come_out_as_they_are(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "é\r\n\n\u2028\ud800")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9\r\n\n\xe2\x80\xa8\xed\xa0\x80"
    assert names(tmp_path) == ["a.txt"]


def test_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "a/b/c.txt", "x")
    assert (tmp_path / "a/b/c.txt").read_text() == "x"


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_usual_permissions(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_text(tmp_path / "a.txt", "x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert mode(tmp_path / "a.txt") == 0o666 & ~umask


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o755])
def test_permissions_stay(tmp_path: Path, permissions: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a longer text than the new one")
    path.chmod(permissions)
    write_text(path, "new")
    assert (path.read_text(), mode(path)) == ("new", permissions)


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/real.txt").write_text("old")
    (tmp_path / "link").symlink_to("there/real.txt")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there/real.txt").read_text() == "new"
    assert names(tmp_path / "there") == ["real.txt"]


def test_a_link_to_nothing_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there/real.txt")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "there/real.txt").read_text() == "new"


def test_the_old_file_is_whole_until_the_new_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    seen = []
    replace = Path.replace

    def watched(self: Path, target: Path) -> Path:
        seen.append((path.read_text(), self.read_text(), self.parent))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    write_text(path, "new")
    assert seen == [("old", "new", tmp_path)]


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UserError) as caught:
        write_text(path, "new")
    assert caught.value.message == f"'{path}' cannot be written: No space left on device."
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_an_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.txt", "new")
    assert names(tmp_path) == []


def test_a_folder_that_takes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refused)
    with pytest.raises(UserError) as caught:
        write_text(tmp_path / "a.txt", "new")
    assert caught.value.message == f"'{tmp_path / 'a.txt'}' cannot be written: Permission denied."


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(UserError) as caught:
        write_text(tmp_path / "a", "new")
    assert caught.value.message == f"'{tmp_path / 'a'}' cannot be written: Is a directory."
    assert names(tmp_path) == ["a"]


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(UserError) as caught:
        write_text(tmp_path / "a/b", "new")
    assert caught.value.message == f"'{tmp_path / 'a/b'}' cannot be written: '{tmp_path / 'a'}' is no folder."
    assert (tmp_path / "a").read_text() == "old"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write_text(path, "new")
    reader.join(timeout=10)
    assert got == ["new"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert names(tmp_path) == ["pipe"]
