"""Which version of the program this is, for its own answers."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """As it was installed; 0 where the code lies on the path without an installation, as in the image."""
    try:
        return version("pkg-pipeline")
    except PackageNotFoundError:
        return "0"
