"""Figures of the docs. Never part of the tests: they take minutes and depend on the machine."""
