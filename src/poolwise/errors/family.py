"""The two families: what an error and a warning of ours are, and how they cross processes."""

from __future__ import annotations

from typing import Any


class _Message:
    """Lets an exception whose arguments are not its message cross processes and pickles."""

    args: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)

    def __getstate__(self) -> dict[str, Any]:
        return {"args": self.args, **self.__dict__}  # for skops, which does not ask __reduce__


def _restored(kind: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    message = kind.__new__(kind)
    message.args = args
    message.__dict__.update(state)
    return message


class TransferError(_Message, ValueError):
    """Base of every error that poolwise raises on purpose."""


class TransferWarning(_Message, UserWarning):
    """Base of every warning that poolwise gives on purpose."""
