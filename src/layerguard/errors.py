"""The one error that a user of layerguard is meant to see."""

from __future__ import annotations


class UserError(Exception):
    """A mistake that the user can mend: told as one message, exit status 2.

    `message` names the file, the place and what is wrong; `hint` says what to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep both parts, so that they can be printed on lines of their own."""
        super().__init__(message)
        self.message = message
        self.hint = hint
