"""Loads msgspec in less time; for the program only, in whose process nobody else uses it."""

from __future__ import annotations

import sys

_OTHER = "typing_extensions"


def load_msgspec() -> None:
    """Load msgspec as it is where `typing_extensions` is not installed: that loads `inspect`, and much else.

    Of its types none is used here; where msgspec finds it, it takes half the time of the import.
    """
    if _OTHER in sys.modules or "msgspec" in sys.modules:
        return
    # The mark of the import system itself for what is not there.
    sys.modules[_OTHER] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401, PLC0415
    finally:
        del sys.modules[_OTHER]
