"""The loader of named statements, and that code and files agree on the names."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pkg_pipeline
from pkg_pipeline.adapters.postgres import queries

PACKAGE = Path(pkg_pipeline.__file__).parent
FILES = sorted({*queries.files(), *queries.compiled()})
PLACE_OF_NAME = {"rows": 1, "first": 1, "named": 0, "values": 0, "value": 0}
"""Methods of ``Reads`` → where they are told the statement."""


def used() -> Iterator[tuple[str, str, str]]:
    """(module, file, name) of every ``query("file", "name")`` in the package.

    Where a helper hands file or name on, every string of that module that names one counts.
    """
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        module = str(path.relative_to(PACKAGE))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        read = {
            str(node.args[1].value)
            for node in calls
            if _called(node) in ("Reads", "__init__") and len(node.args) == 2 and isinstance(node.args[1], ast.Constant)
        }
        for node in calls if read else ():
            place = PLACE_OF_NAME.get(_called(node), 9)
            match node.args[place : place + 1]:
                case [ast.Constant(value=str(name))]:
                    # a module may read several files
                    yield module, next((file for file in read if name in queries.names(file)), min(read)), name
                case [ast.Name()]:
                    yield from ((module, file, name) for file in read for name in strings & set(queries.names(file)))
                case _:
                    pass
        yield from ((module, file, name) for file, name in _of_statements(nodes, strings))
        for node in nodes:
            if (
                not isinstance(node, ast.Call)
                or _called(node) not in ("query", "numbered")
                or path.name == "queries.py"
            ):
                continue
            file, name = (one.value if isinstance(one, ast.Constant) else None for one in node.args)
            for possible in strings & set(FILES) if file is None else {str(file)}:
                if name is not None:
                    yield module, possible, str(name)
                else:
                    yield from ((module, possible, found) for found in strings & set(queries.names(possible)))


def _of_statements(nodes: list[ast.AST], strings: set[str]) -> Iterator[tuple[str, str]]:
    """(file, name) of every ``SQL.rows(connection, "name")`` where ``SQL = Statements("file")``."""
    files: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                files |= _made([name], [value])
            case ast.Assign(targets=[ast.Tuple(names)], value=ast.Tuple(values)):
                files |= _made([name.id for name in names if isinstance(name, ast.Name)], values)
            case _:
                pass
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(name), attr="text"), args=[ast.Constant(value=asked)]):
                yield from ((file, str(asked)) for file in [files.get(name)] if file is not None)
            case ast.Call(func=ast.Attribute(value=ast.Name(name), attr=how), args=[_, asked, *_]) if name in files:
                if isinstance(asked, ast.Constant):
                    yield files[name], str(asked.value)
                elif how in ("run", "execute", "rows", "one", "value", "values"):
                    yield from ((files[name], found) for found in strings & set(queries.names(files[name])))
            case _:
                pass


def _made(names: list[str], values: list[ast.expr]) -> dict[str, str]:
    return {
        name: str(file.value)
        for name, value in zip(names, values, strict=False)
        if isinstance(value, ast.Call) and _called(value) == "Statements"
        for file in value.args
        if isinstance(file, ast.Constant)
    }


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def test_every_statement_that_the_code_names_exists() -> None:
    for module, file, name in used():
        assert queries.query(file, name), (module, file, name)


def test_every_statement_is_used() -> None:
    named = {(file, name) for _, file, name in used()}
    assert {(file, name) for file in FILES for name in queries.names(file)} - named == set()


@pytest.mark.parametrize("file", FILES)
def test_every_statement_says_what_it_is_for_and_is_one(file: str) -> None:
    if file in queries.files():
        assert queries.files()[file].read_text(encoding="utf-8").startswith("--")
    for name in queries.names(file):
        body = queries.query(file, name)
        code = "\n".join(line.partition("--")[0] for line in body.splitlines()).strip()
        assert code, name
        assert ";" not in code.rstrip(";"), f"{file}.{name} is more than one statement"


def test_unknown_names_are_said_clearly() -> None:
    with pytest.raises(queries.UnknownQuery, match=r"ingest\.sql has no statement nothing"):
        queries.query("ingest", "nothing")
    with pytest.raises(queries.UnknownQuery, match=r"nothing\.sql has no statement nothing"):
        queries.query("nothing", "nothing")


def test_no_store_of_the_reads_loads_sqlalchemy() -> None:
    """Statements are composed when they are written down, not when somebody asks."""
    stores = ("reads.store", "monitoring.store", "profiles.reads", "sessions.store")
    loaded = "; ".join(f"import pkg_pipeline.adapters.postgres.{store}" for store in stores)
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {loaded}; print('sqlalchemy' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "False"
