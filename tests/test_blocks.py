from __future__ import annotations

import pytest

from layerguard.code import Code
from layerguard.code.blocks import Around, Blocks

_TYPING = frozenset({"TYPE_CHECKING", "t.TYPE_CHECKING"})


def _around(text: str) -> Around:
    """Tell what is around the `@` of a text."""
    at = text.index("@")
    return Blocks(Code(text.replace("@", "")), _TYPING).around(at)


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("@x", ""),
        ("def f():\n  @x", "f"),
        ("def f(): @x", "f"),
        ("def f(\n  a=1,\n) -> {1: 2}:\n  @x", "f"),
        ("def f(a=@x): pass", ""),
        ("async  def f():\n  @x", "f"),
        ("class C(D):\n  def f(self):\n    y\n\n# margin\n    @x", "C.f"),
        ("class C:\n  def f(self): pass\n  @x", "C"),
        ("def f():\n  if a:\n    for b in c:\n      with d: @x", "f"),
        ("def f():\n  pass\n@x", ""),
        ("def f():\n\tif a:\n\t\tpass\n\t@x", "f"),
        ("def f():\n  y = '''\nz\n'''\n  @x", "f"),
        ("def f():\n  y = (\n1)\n  @x", "f"),
        ("def f():\n  y = \\\n1\n  @x", "f"),
        ("def f():\n  pass\n\x0c\n@x", ""),
        ("def f():\n\x0c  @x", "f"),
        ("definition = 1\n@x", ""),
        ("@y\nclass C[T: (1, 2)](D): @x".replace("@y", "#"), "C"),
    ],
)
def test_scopes(text: str, scope: str) -> None:
    assert _around(text).scope == scope


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("class C: @x", "load"),
        ("if a: @x", "load"),
        ("def f(): @x", "deferred"),
        ("def f():\n  class C: @x", "deferred"),
        ("y = lambda: @x", "deferred"),
        ("y = lambda a=@x: 1", "load"),
        ("y = lambda a: {1: @x}", "deferred"),
        ("y = (lambda: 1, @x)", "load"),
        ("y = [lambda: 1][@x]", "load"),
        ("y = lambda: lambda: @x", "deferred"),
        ("y = {lambda: 1: @x}", "load"),
        ("if TYPE_CHECKING: @x", "typing"),
        ("if TYPE_CHECKING:\n  def f(): @x", "typing"),
        ("def f():\n  if t . TYPE_CHECKING: @x", "typing"),
        ("if s.TYPE_CHECKING: @x", "load"),
        ("if not TYPE_CHECKING:\n  pass\nelse: @x", "typing"),
        ("if not TYPE_CHECKING:\n  pass\nelif a: @x", "typing"),
        ("if TYPE_CHECKING:\n  pass\nelif a:\n  pass\nelse: @x", "load"),
        ("if a:\n  pass\nelif TYPE_CHECKING:\n  @x", "typing"),
        ("if a and (b or TYPE_CHECKING): @x", "load"),
        ("if (\n  TYPE_CHECKING\n  and a\n): @x", "typing"),
        ("if a if TYPE_CHECKING else b: @x", "load"),
        ("while TYPE_CHECKING: @x", "load"),
        ("for a in b:\n  if not TYPE_CHECKING: break\nelse: @x", "load"),
        ("if TYPE_CHECKING: pass\n@x", "load"),
        ("if TYPE_CHECKING or a[lambda: 0]: @x", "load"),
    ],
)
def test_when(text: str, when: str) -> None:
    assert _around(text).when == when


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("try: @x\nexcept ImportError: pass", True),
        ("try:\n  @x\nexcept ValueError:\n  pass\nexcept (A, m.ModuleNotFoundError) as e:\n  pass", True),
        ("try: @x\nexcept: pass", True),
        ("try: @x\nexcept* Exception: pass", True),
        ("try: @x\nexcept ValueError, ImportError: pass", True),
        ("try: @x\nexcept MyImportError: pass", False),
        ("try: @x\nexcept ValueError as ImportError: pass", False),
        ("try: @x\nfinally: pass", False),
        ("try: pass\nexcept ImportError: @x", False),
        ("try: pass\nexcept ImportError: pass\nelse: @x", False),
        ("try:\n  if a:\n    class C: @x\nexcept ImportError: pass", True),
        ("try:\n  def f(): @x\nexcept ImportError: pass", False),
        ("try:\n  try: @x\n  finally: pass\nexcept ImportError: pass", True),
        ("try:\n  @x\n# except\n\nexcept ImportError: pass", True),
        ("try:\n  try: pass\n  except ImportError: pass\n  @x\nexcept ValueError: pass", False),
        ("with suppress(ImportError): @x", True),
        ("with contextlib.suppress(A, ImportError) as b: @x", True),
        ("with (\n  a,\n  suppress(Exception),\n): @x", True),
        ("with suppress(ValueError): @x", False),
        ("with suppressed(ImportError): @x", False),
    ],
)
def test_guarded(text: str, guarded: bool) -> None:
    assert _around(text).guarded is guarded
