"""The unpacked model: the same vectors to the last bit, and never more than a saving of time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pkg_pipeline.adapters.embedders import offline, prepared
from pkg_pipeline.adapters.embedders.offline import PREPARED, OfflineEmbedder
from pkg_pipeline_tests.adapters.embedders.test_offline_embedder import STRANGE, TEXTS

LONG = "Пришлите смету до пятницы, please, 请发给我。 " * 60


@pytest.fixture(autouse=True)
def process_without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "_LOADED", [])


@pytest.fixture(scope="module")
def parts() -> prepared.Parts:
    return offline._unpacked()


@pytest.fixture(scope="module")
def kept(parts: prepared.Parts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    cache = tmp_path_factory.mktemp("cache")
    prepared.keep(cache / PREPARED, parts)
    yield cache
    shutil.rmtree(cache)


def vectors(cache: Path | None) -> np.ndarray:
    offline._LOADED.clear()
    return OfflineEmbedder(cache=cache).embed([*TEXTS, *STRANGE, LONG])


def test_the_same_vectors_without_unpacking(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = vectors(None)
    monkeypatch.setattr(offline, "_unpacked", lambda: pytest.fail("it was there"))
    found = vectors(kept)
    assert found.any()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", [prepared.TABLE, prepared.REST])
@pytest.mark.parametrize("damage", ["short", "gone", "empty", "other"])
def test_what_is_not_whole_is_made_anew(
    kept: Path, parts: prepared.Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: str
) -> None:
    monkeypatch.setattr(offline, "_unpacked", lambda: parts)  # the same ones, which takes a second
    folder = tmp_path / PREPARED
    folder.mkdir()
    for file in (kept / PREPARED).iterdir():
        (folder / file.name).symlink_to(file)
    file = folder / name
    whole = file.read_bytes()
    file.unlink()
    if damage != "gone":
        file.write_bytes({"short": whole[: len(whole) // 2], "empty": b"", "other": b"\0" * 4096}[damage])
    offline._LOADED.clear()
    first = OfflineEmbedder(cache=tmp_path).embed(TEXTS)
    assert file.stat().st_size == len(whole)
    assert np.array_equal(OfflineEmbedder(cache=None).embed(TEXTS), first)
    assert prepared.load(folder, tokens=None) is not None


def test_nothing_is_kept_where_there_is_no_room_or_no_right(
    parts: prepared.Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(prepared, "LEAST_FREE_BYTES", 1 << 62)
        prepared.keep(tmp_path / "full" / PREPARED, parts)
    assert not (tmp_path / "full" / PREPARED).exists()
    (tmp_path / "file").write_text("in the way")
    prepared.keep(tmp_path / "file" / PREPARED, parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]
