"""A new importer is one module and its name in the list: found, read, stored, offered; nothing else knows formats."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pkg_pipeline
from pkg_pipeline.adapters import exports
from pkg_pipeline.adapters.exports import formats
from pkg_pipeline.adapters.exports.detect import UnreadableExport, open_export
from pkg_pipeline.memory.records import Rejected
from pkg_pipeline_tests.stages.ingest.import_rig import Rig

MODULE = '''
"""Pager slips: ``<unix time> <sender>> <text>`` a line."""

from pkg_pipeline.adapters.exports.reading import ExportFormat
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, Rejected
from pkg_pipeline.memory.text.timestamps import from_iso_or_unix


def refusal(head):
    return None if head.startswith(b"PAGER") else "no slip of a pager"


def read(source, zone):
    yield ParsedChat("pager", "slips", "group")
    for number, line in enumerate(b"".join(source.chunks()).decode().splitlines()[1:], 2):
        head, found, text = line.partition("> ")
        if not found:
            yield Rejected(f"line {number}", "no slip")
            continue
        at, sender = head.split(" ", 1)
        yield ParsedMessage("slips", str(number), from_iso_or_unix(int(at), zone)[0], text, sender, sender)


FORMAT = ExportFormat(refusal, read)
'''
SLIPS = "PAGER\n1700000000 Ann> Call the lab.\nsmudged\n1700000060 Bo> Done.\n"


@pytest.fixture
def pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The one file and the one line; a file of slips."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "pager.py").write_text(MODULE)
    monkeypatch.setattr(exports, "__path__", [*exports.__path__, str(tmp_path / "code")])
    monkeypatch.setattr(formats, "NAMES", (*formats.NAMES, "pager"))
    slips = tmp_path / "slips.txt"
    slips.write_text(SLIPS)
    yield slips
    sys.modules.pop("pkg_pipeline.adapters.exports.pager", None)


def test_a_format_of_one_module_and_one_line_is_imported_like_any_other(pager: Path, database_url: str) -> None:
    [export] = open_export(pager)
    assert export.format == "pager"
    rig = Rig(database_url)
    try:
        report = rig.take_export(export)
        assert (report.counts.new, [(where, why) for _, where, why in report.rejected]) == (2, [("line 3", "no slip")])
        assert rig.rows(
            "SELECT name, content FROM messages JOIN entities e ON e.id = sender_entity_id ORDER BY sent_at"
        ) == [("Ann", "Call the lab."), ("Bo", "Done.")]
    finally:
        rig.close()
    assert export.sha256 is not None


def test_it_is_offered_by_name_and_named_where_nothing_fits(pager: Path) -> None:
    assert [one.format for one in open_export(pager, format="pager")] == ["pager"]
    with pytest.raises(ValueError, match="known are jsonl, pager, telegram"):
        open_export(pager, format="pigeon")
    pager.write_text("hello")
    with pytest.raises(UnreadableExport, match=r"pager \(no slip of a pager\)"):
        open_export(pager)
    [bad] = list(open_export(pager.parent, format="telegram")[0].items())
    assert isinstance(bad, Rejected)


def test_one_line_of_the_product_names_a_format() -> None:
    """No list of formats is kept beside ``formats.NAMES``: who offers or opens them asks it."""
    root = Path(pkg_pipeline.__file__).parent
    own = root / "adapters" / "exports"
    names = set(formats.NAMES)
    lists: list[str] = []
    for path in root.rglob("*.py"):
        if path.parent == own and path.stem in names:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
                texts = {one.value for one in node.elts if isinstance(one, ast.Constant)}
                lists += [str(path.relative_to(root))] if names <= texts else []
    assert lists == ["adapters/exports/formats.py"]
    for name in formats.NAMES:
        assert (own / f"{name}.py").is_file()
