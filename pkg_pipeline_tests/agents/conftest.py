"""Homes for the command line, as its own tests have them."""

from __future__ import annotations

from pkg_pipeline_tests.cli.conftest import given, launcher

__all__ = ["given", "launcher"]
