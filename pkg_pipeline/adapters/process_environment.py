"""Variables in this process's environment for a while: Dagster and dbt take their connection from there.

What the variables are called and hold is the business of ``dagster_home`` and ``dbt_profile``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

CODE_SERVER_VARIABLE = "PKG_CODE_SERVER"
"""Where what runs in the code server can ask it for new definitions: a socket's path, or a port of this machine."""


@contextmanager
def in_environment(values: Mapping[str, str]) -> Iterator[None]:
    """``values`` in this process's environment, which child programs inherit; afterwards as before."""
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
