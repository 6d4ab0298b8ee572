"""``demo`` as a person meets it: everything it says to do next works as it is printed."""

from __future__ import annotations

import shlex

from pkg_pipeline_tests.cli.processes import Program


def test_what_the_demo_says_to_do_next_works(program: Program) -> None:
    """Its home is cut into days of another time zone than the default one, and the next commands did not know that."""
    said = program.ok("demo", COLUMNS="200")
    lines = [line.strip() for line in said.out.splitlines() if line.strip().startswith("PKG_HOME=")]
    assert len(lines) == 4
    for line in lines:
        home, command, *arguments = shlex.split(line)
        assert command == "pkg-pipeline"
        name, _, value = home.partition("=")
        found = program.ok(*arguments, **{name: value}).out
        assert len(found.splitlines()) > 5, found
    again = program.ok("demo", COLUMNS="200")
    assert "0 messages new" in again.err + again.out
