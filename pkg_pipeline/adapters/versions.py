"""The program's version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """As installed; 0 if the code runs without an installation, as in the image."""
    try:
        return version("pkg-pipeline")
    except PackageNotFoundError:
        return "0"
