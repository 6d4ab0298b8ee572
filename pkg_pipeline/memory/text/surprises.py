"""What code raises over a value that nobody foresaw, told apart from what goes wrong with the machine. No I/O.

A database that is gone, a full disk, memory that ran out are none of these: they are never taken for bad input.
"""

from __future__ import annotations

from typing import Final

SURPRISES: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a value of a wrong type, size or depth raises, wherever it is used."""


def surprise(error: Exception) -> str:
    """Why a piece of input is not taken. Only the kind of the error: its words may quote a conversation."""
    return f"it cannot be read: {type(error).__name__} over an unforeseen value"
