"""The synthetic memory of the recall benchmark: chunks of entities of known sizes, straight into the tables.

Vectors lie between three real sentence vectors with a little noise, words are those of the sentences plus invented ones
by Zipf, and every chunk's message is there, so that texts come back. Here: what is stored. Not here: what is asked.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import demo_rows
from pkg_pipeline.adapters.embedders.offline import OfflineEmbedder
from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.engine import Connection
from pkg_pipeline.adapters.text.term_analyzer import SnowballTerms
from pkg_pipeline.memory.recall.lexical import DIMENSIONS as TERM_NUMBERS
from pkg_pipeline.memory.recall.lexical import document_vector, term_number
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.memory.recall.vector_codes import codes

NOW = datetime(2026, 3, 15, 12, 0, tzinfo=UTC)
SECONDS = 730 * 86_400
"""Chunks lie evenly in the two years before ``NOW``."""

SIZED = {150_000: 1, 15_000: 3, 1_000: 5}
"""Chunks of an entity, and how many entities have so many."""

SHARES = (0.6, 0.3, 0.1)
"""Of an entity's chunks in its direct chat and in two groups, in which others say as much again."""

MOST_BACKGROUND = 3_000
BLOCK = 20_000
VOCABULARY = 60_000
INVENTED_WORDS = 8
SPACE = 1
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

PARTS = """\
my sister;the landlord;our new client;the supplier;Daniel;the dentist;моя мама;наш клиент;сосед;учительница
wants to move;sent the bill for;forgot about;asked twice about;has found;купил;просил перенести;потерял
the red boat;the winter tyres;two train tickets;the garden fence;a used piano;договор аренды;билеты в театр
before the holidays;last Thursday;in the old town;near the station;после отпуска;на прошлой неделе;весной"""
WHO, DID, WHAT, WHEN = (line.split(";") for line in PARTS.splitlines())
ASKED = ["When did {0} say: {1}?", "What was decided when {0} said {1}?", "Кто и когда сказал: {1}?", "{1}?"]
NOISE = 0.004
"""Standard deviation a dimension, a tenth of the vector's length in all: no two chunks are alike."""
QUOTED_WORDS = (3, 7)
"""So many words of a stored line stand in a question: among them rare ones, as in what people really ask."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """What everything is mixed from: texts, their vectors (n, d) and their terms."""

    texts: list[str]
    vectors: NDArray[np.float32]
    terms: list[list[str]]


def sentences(count: int = 4_000) -> Sentences:
    """Lines of the demo's conversations, and made-up ones of four parts; the same in every run."""
    texts, analyzer = _lines(count), SnowballTerms()
    return Sentences(texts, OfflineEmbedder().embed(texts), [analyzer.terms(text) for text in texts])


def _lines(count: int) -> list[str]:
    random = np.random.default_rng(1)
    texts = [str(row["text"]) for row in demo_rows()][: count // 2]
    while len(texts) < count:
        number = random.integers(1, 400)
        texts.append(" ".join(str(random.choice(part)) for part in (WHO, DID, WHAT, WHEN)) + f" {number}")
    return texts


def questions(count: int) -> list[str]:
    """A few words in a row out of a line, asked about; a question is like what is stored, but none of it."""
    random = np.random.default_rng(2)
    lines = [text.split() for text in _lines(4_000) if len(text.split()) > QUOTED_WORDS[1]]
    asked: list[str] = []
    for _ in range(count):
        line, length = lines[random.integers(len(lines))], random.integers(*QUOTED_WORDS)
        start = random.integers(len(line) - length)
        asked.append(str(random.choice(ASKED)).format(random.choice(WHO), " ".join(line[start : start + length])))
    return asked


def made_id(kind: str, number: int) -> UUID:
    return UUID(hashlib.md5(f"{kind} {number}".encode(), usedforsecurity=False).hexdigest())


def word(rank: int) -> str:
    """An invented word; no two are alike."""
    syllables = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu")
    return "".join(syllables[int(digit)] for digit in f"{rank:05d}") + "x"


@dataclass(frozen=True, slots=True)
class Plan:
    """By chunk, in order of time: to whom and to which chat it belongs, and when it was said (µs since 2000).

    ``sized`` are (chunks, entity); an entity's direct chat has its number, its groups are ``groups``.
    """

    entity: NDArray[np.int64]
    chat: NDArray[np.int64]
    at: NDArray[np.int64]
    sized: list[tuple[int, int]]
    groups: dict[int, tuple[int, int]]


def planned(chunks: int) -> Plan:
    """Entities of the known sizes as far as those of a size fit in half of it, the rest in small ones by Zipf."""
    random = np.random.default_rng(3)
    sized: list[tuple[int, int]] = []
    for size, count in SIZED.items():
        sized += [(size, len(sized) + place) for place in range(count) if size * count <= chunks // 2]
    owners: list[tuple[int, int, int]] = []
    groups: dict[int, tuple[int, int]] = {}
    for size, number in sized:
        groups[number] = (1_000_000 + 2 * number, 1_000_001 + 2 * number)
        parts = [int(size * share) for share in SHARES]
        owners += [(number, chat, part) for chat, part in zip((number, *groups[number]), parts, strict=True)]
    left, number = chunks - sum(size for size, _ in sized), len(sized)
    foreign = [(chat, part) for _, chat, part in owners if chat >= 1_000_000]
    while left:
        size = min(left, int(min(random.zipf(1.5) * 40, MOST_BACKGROUND)))
        in_group = min(size // 2, foreign[-1][1]) if foreign else 0
        if in_group:
            chat, missing = foreign.pop()
            owners.append((number, chat, in_group))
            if missing > in_group:
                foreign.append((chat, missing - in_group))
        owners.append((number, number, size - in_group))
        left, number = left - size, number + 1
    entity, chat, count = (np.array(column) for column in zip(*owners, strict=True))
    order = random.permutation(chunks)
    start = int((NOW - timedelta(seconds=SECONDS) - EPOCH).total_seconds() * 1e6)
    at = start + np.arange(chunks, dtype=np.int64) * (SECONDS * 1_000_000 // chunks)
    return Plan(np.repeat(entity, count)[order], np.repeat(chat, count)[order], at, sized, groups)


class Memory:
    """The plan and the vectors of one size; kept beside the database, since the true nearest are found in them."""

    def __init__(self, folder: Path, chunks: int) -> None:
        self.chunks = chunks
        self.plan = planned(chunks)
        self._path = folder / f"vectors_{chunks}.npy"

    @cached_property
    def vectors(self) -> NDArray[np.float16]:
        return np.load(self._path, mmap_mode="r")

    def nearest(self, question: NDArray[np.float32], within: NDArray[np.bool_] | None, count: int = 10) -> list[int]:
        """Numbers of the chunks (from 1) that are nearest by exact scalar products of the stored halves."""
        if within is None:
            pieces = [
                np.asarray(self.vectors[start : start + 50_000], np.float32) @ question
                for start in range(0, self.chunks, 50_000)
            ]
            scores, where = np.concatenate(pieces), np.arange(self.chunks)
        else:
            where = np.flatnonzero(within)
            scores = np.asarray(self.vectors[where], np.float32) @ question
        return (where[np.argsort(-scores, kind="stable")[:count]] + 1).tolist()

    def fill(self, url: str) -> float:
        """Fill a migrated, empty database; seconds it took, indexes of vectors not among them."""
        started = time.perf_counter()
        given = sentences()
        made = np.lib.format.open_memmap(self._path, "w+", np.float16, (self.chunks, given.vectors.shape[1]))
        with engine.connect(url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute("SET maintenance_work_mem = '1GB'; SET synchronous_commit = off")
            indexes = _indexes_dropped(connection)
            _people(connection, self.plan)
            counts: Counter[int] = Counter()
            random = np.random.default_rng(4)
            for start in range(0, self.chunks, BLOCK):
                block = _Block(self.plan, given, start, min(start + BLOCK, self.chunks), random)
                made[block.start : block.end] = block.halves
                block.copy(connection, counts)
            _statistics(connection, self.plan, counts, given.vectors.shape[1])
            for statement in indexes:
                connection.execute(statement)  # type: ignore[arg-type]
            connection.execute("VACUUM ANALYZE")
        made.flush()
        return time.perf_counter() - started


def _indexes_dropped(connection: Connection) -> list[str]:
    """The statements that make them again: building them after the rows takes a tenth of the time."""
    tables = "ARRAY['messages', 'memory_chunks', 'chunk_codes']::regclass[]"
    rows = connection.execute(
        "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        f" WHERE i.indrelid = ANY({tables}) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)"
    ).fetchall()
    for name, _ in rows:
        connection.execute(f"DROP INDEX {name}")
    return [text for _, text in rows]


def _people(connection: Connection, plan: Plan) -> None:
    people, chats = np.unique(plan.entity), np.unique(plan.chat)
    members = np.unique(np.stack([plan.chat, plan.entity], 1), axis=0)
    with connection.cursor() as cursor:
        with cursor.copy("COPY entities (id, name, name_at) FROM STDIN") as copy:
            for number in people.tolist():
                copy.write_row((made_id("entity", number), f"Person {word(number)}", NOW))
        with cursor.copy("COPY chats (id, source, external_id, kind, title, title_at) FROM STDIN") as copy:
            for number in chats.tolist():
                kind = "direct" if number < 1_000_000 else "group"
                copy.write_row((made_id("chat", number), "telegram", f"chat:{number}", kind, f"Chat {number}", NOW))
        with cursor.copy("COPY chat_members FROM STDIN") as copy:
            for chat, entity in members.tolist():
                copy.write_row((made_id("chat", chat), made_id("entity", entity)))
        with cursor.copy("COPY speaker_terms FROM STDIN") as copy:
            for number in people.tolist():
                for name in ("person", word(number)):
                    copy.write_row((term_number(name), made_id("entity", number)))


def _statistics(connection: Connection, plan: Plan, counts: Counter[int], dimensions: int) -> None:
    connection.execute(
        "INSERT INTO embedding_spaces (id, model, dimensions, state, activated_at) OVERRIDING SYSTEM VALUE"
        " VALUES (%s, %s, %s, 'active', now())",
        (SPACE, OfflineEmbedder().model, dimensions),
    )
    with connection.cursor() as cursor:
        with cursor.copy("COPY chunk_terms FROM STDIN") as copy:
            for term, count in [(0, len(plan.at)), *counts.items()]:
                copy.write_row((term, count))
        with cursor.copy("COPY chunk_scopes (space_id, scope, chunks) FROM STDIN") as copy:
            copy.write_row((SPACE, EVERYTHING, len(plan.at)))
            for kind, column in (("entity", plan.entity), ("chat", plan.chat)):
                for number, count in zip(
                    *(part.tolist() for part in np.unique(column, return_counts=True)), strict=True
                ):
                    copy.write_row((SPACE, made_id(kind, number), count))


# ── rows ──────────────────────────────────────────────────────────────────────────────────────


class _Block:
    """Some chunks as rows of binary COPY."""

    def __init__(self, plan: Plan, given: Sentences, start: int, end: int, random: np.random.Generator) -> None:
        self.start, self.end, count = start, end, end - start
        self._plan, self._given = plan, given
        # whoever speaks has favourite subjects: two fifths of the sentences are from forty of one's own
        own = (plan.entity[start:end] * 97 + random.integers(0, 40, count) * 31) % len(given.texts)
        any_one = random.integers(0, len(given.texts), count)
        self._first = np.where(random.random(count) < 0.4, own, any_one)
        self._second = random.integers(0, len(given.texts), count)
        # a line and what stands around it: between three real vectors, where real ones lie too. Noise of equal size in
        # every direction would put a fifth of each vector where no text ever is, and all distances close together
        share = random.uniform(0.5, 1, (count, 1)).astype(np.float32)
        part = random.uniform(0, 1, (count, 1)).astype(np.float32)
        around = part * given.vectors[self._second] + (1 - part) * given.vectors[random.permutation(self._second)]
        noise = random.normal(0, NOISE, (count, given.vectors.shape[1])).astype(np.float32)
        vectors = share * given.vectors[self._first] + (1 - share) * around + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self._words = np.minimum(random.zipf(1.15, (count, INVENTED_WORDS)), VOCABULARY)
        self.vectors = vectors
        self.halves = vectors.astype(np.float16)

    def copy(self, connection: Connection, counts: Counter[int]) -> None:
        rows = list(self._rows(counts))
        tables = {
            "messages (id, chat_id, sender_entity_id, sent_at, exported_at, token_count, importance_score, is_outgoing,"
            " external_id, content, content_hash)": [row for one in rows for row in one[0]],
            "memory_chunks (id, no, source, chat_id, interaction_id, sender_entity_id, at, scopes, message_ids,"
            " content_hash, index_hash, terms, lexical)": [row for one in rows for row in one[1]],
            "chunk_embeddings (chunk_no, space_id, scopes, at, index_hash, embedding)": [
                row for one in rows for row in one[2]
            ],
            "chunk_codes (space_id, scope, chunk_no, at, code)": [row for one in rows for row in one[3]],
        }
        for table, made in tables.items():
            with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0) + b"".join(made) + struct.pack(">h", -1))

    def _rows(self, counts: Counter[int]) -> Iterator[tuple[list[bytes], list[bytes], list[bytes], list[bytes]]]:
        plan, given = self._plan, self._given
        halves, bits = self.halves.astype(">f2"), codes(self.vectors)
        dimensions = struct.pack(">hh", halves.shape[1], 0)
        for place in range(self.end - self.start):
            no = self.start + place + 1
            entity, chat, at = (int(column[no - 1]) for column in (plan.entity, plan.chat, plan.at))
            who, where, moment = made_bytes("entity", entity), made_bytes("chat", chat), struct.pack(">q", at)
            first, second = int(self._first[place]), int(self._second[place])
            invented = [word(rank) for rank in self._words[place].tolist()]
            text = f"{given.texts[first]} {given.texts[second]} {' '.join(invented)}".encode()
            weights = document_vector(map(term_number, [*given.terms[first], *given.terms[second], *invented]), ())
            counts.update(weights.keys())
            number, scopes = struct.pack(">q", no), _array(2950, [who, where])
            talk = struct.pack(">QII", 7, chat, no // 40)
            lexical = struct.pack(
                f">iii{len(weights)}i{len(weights)}f",
                *(TERM_NUMBERS, len(weights), 0),
                *(term - 1 for term in weights),
                *weights.values(),
            )
            terms = _array(23, [struct.pack(">i", term) for term in weights])
            space, code = struct.pack(">h", SPACE), struct.pack(">i", 1024) + bits[place].tobytes()
            token_count, importance, name = struct.pack(">i", 30), struct.pack(">f", 0.1), str(no).encode()
            yield (
                [_row(number, where, who, moment, moment, token_count, importance, b"\0", name, text, b"h")],
                [
                    _row(
                        struct.pack(">QQ", 9, no), number, b"message", where, talk, who, moment, scopes,
                        _array(20, [number]), b"h", b"h", terms, lexical,
                    )
                ],
                [_row(number, space, scopes, moment, b"h", dimensions + halves[place].tobytes())],
                [_row(space, scope, number, moment, code) for scope in (EVERYTHING.bytes, who, where)],
            )  # fmt: skip


_IDS: dict[tuple[str, int], bytes] = {}


def made_bytes(kind: str, number: int) -> bytes:
    found = _IDS.get((kind, number))
    if found is None:
        found = _IDS[kind, number] = made_id(kind, number).bytes
    return found


def _row(*fields: bytes) -> bytes:
    return struct.pack(">h", len(fields)) + b"".join(struct.pack(">i", len(field)) + field for field in fields)


def _array(kind: int, items: list[bytes]) -> bytes:
    head = struct.pack(">iiiii", 1, 0, kind, len(items), 1)
    return head + b"".join(struct.pack(">i", len(item)) + item for item in items)
