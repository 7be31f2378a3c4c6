"""layerguard: an import-layering linter for Python, with a list of known violations that can only shrink.

The public API: `check` gives a `Report`, whose `violations` a project's own test can assert on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing` takes longer to load than this whole package
if TYPE_CHECKING:
    from typing import Any

    from layerguard.errors import UserError
    from layerguard.model import Report, Violation
    from layerguard.run import check

__version__ = "0.1.0"
__all__ = ["Report", "UserError", "Violation", "__version__", "check"]

_HOMES = {"Report": "model", "UserError": "errors", "Violation": "model", "check": "run"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module has by that name
    """Load a public name when it is first asked for, so that importing the package stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'layerguard' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f"layerguard.{_HOMES[name]}"), name)
