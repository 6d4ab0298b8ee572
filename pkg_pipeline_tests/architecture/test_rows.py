"""Rows of the database are read by the names of their columns, never by position."""

from __future__ import annotations

import ast
from pathlib import Path

import pkg_pipeline

PACKAGE = Path(pkg_pipeline.__file__).parent

ONE = {"fetchone"}
MANY = {"fetchall", "fetchmany", "execute", "read_rows", "rows", "_rows"}


def positions(source: str) -> list[int]:
    """Lines on which a row is subscripted by a number or handed on as a list of values."""
    tree = ast.parse(source)
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return sorted({line for scope in scopes for line in _in_function(scope)})


def _in_function(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> list[int]:
    rows = {argument.arg for argument in scope.args.args if argument.arg == "row"}
    lists: set[str] = set()
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                rows |= {name} if _gives(value, ONE) else set()
                lists |= {name} if _gives(value, MANY) else set()
            case ast.NamedExpr(target=ast.Name(name), value=value):
                rows |= {name} if _gives(value, ONE) else set()
            case ast.For(target=ast.Name(name), iter=several) | ast.comprehension(target=ast.Name(name), iter=several):
                rows |= {name} if name == "row" or _is_list(several, lists) else set()
            case _:
                pass
    found: list[int] = []
    for node in ast.walk(scope):
        match node:
            case ast.Subscript(value=value, slice=place) if _is_number(place) and _is_row(value, rows, lists):
                found.append(node.lineno)
            case ast.Starred(value=value, ctx=ast.Load()) if _is_row(value, rows, lists):
                found.append(node.lineno)
            case _:
                pass
    return found


def _gives(value: ast.expr, names: set[str]) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Call(func=ast.Name(name)):
            return name in names
        case _:
            return False


def _is_list(value: ast.expr, lists: set[str]) -> bool:
    return _gives(value, MANY) or (isinstance(value, ast.Name) and value.id in lists)


def _is_row(value: ast.expr, rows: set[str], lists: set[str]) -> bool:
    match value:
        case ast.Name(name):
            return name in rows
        case ast.Subscript(value=several, slice=place) if _is_number(place):
            return _is_list(several, lists)
        case _:
            return _gives(value, ONE)


def _is_number(place: ast.expr) -> bool:
    match place:
        case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())) | ast.Slice():
            return True
        case ast.Name(name):
            return name.isupper()  # a constant that counts columns
        case _:
            return False


def test_no_row_is_read_by_position() -> None:
    """``class_row``, ``namedtuple_row`` or ``scalar_row`` give every column by its name."""
    found: dict[str, list[int]] = {}
    for path in PACKAGE.rglob("*.py"):
        if "psycopg" in (source := path.read_text(encoding="utf-8")) or "adapters/postgres" in path.as_posix():
            found[path.relative_to(PACKAGE).as_posix()] = positions(source)
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_what_counts_as_reading_by_position() -> None:
    bad = """
def reads(connection):
    one = connection.execute("SELECT 1").fetchone()
    if one[0]:
        return [Record(*row) for row in connection.execute("SELECT 2")]
    several = connection.execute("SELECT 3").fetchall()
    first = several[0][1]
    return connection.execute("SELECT 4").fetchone()[0], [each[2] for each in several]

def made(row):
    return Record(*row[:21], row[-1])
"""
    assert positions(bad) == [4, 5, 7, 8, 11]
    good = """
def reads(cursor, texts):
    one = cursor.execute("SELECT 1").fetchone()
    several = cursor.execute("SELECT 2").fetchall()
    return one.name, several[0].name, texts[0], [each.name for each in several], [*several]
"""
    assert positions(good) == []
