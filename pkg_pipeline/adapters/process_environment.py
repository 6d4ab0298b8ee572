"""Temporary environment variables, from which Dagster and dbt take their connection."""

from __future__ import annotations

import os
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
