"""What child processes get from this one: environment variables, and its end."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

CODE_SERVER_VARIABLE = "PKG_CODE_SERVER"
"""The code server's address for reloads: a socket path or a local port."""


@contextmanager
def in_environment(values: Mapping[str, str]) -> Iterator[None]:
    """``values`` in this process's environment, inherited by child processes; restored afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """In a child: the kernel sends it this signal when its parent is gone. Does nothing but on Linux."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, number)
