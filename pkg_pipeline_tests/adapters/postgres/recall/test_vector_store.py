"""Vectors, codes and sizes of scopes: one transaction, exact whatever comes twice, late, at once or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import numpy as np
import psycopg
import pytest

from pkg_pipeline.adapters.postgres.recall import vectors as vector_store
from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline.stages.recall.records import SpaceMismatch, VectorRow
from pkg_pipeline_tests.adapters.postgres.recall.vector_rig import CHAT, PEOPLE, START, VectorRig, text_of_code, unit

ANNA, BORIS = PEOPLE[:2]


@pytest.fixture
def rig(database_url: str) -> Iterator[VectorRig]:
    made = VectorRig(database_url, size=8)
    yield made
    made.close()


def test_what_is_saved_is_what_was_given(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers, vectors = rig.chunks(3), unit(3)
    assert rig.vectors.missing(space.id, [(number, f"h{number}") for number in numbers]) == set(numbers)
    assert rig.save(space.id, numbers, vectors, scopes=(CHAT, ANNA)) == 3
    found = rig.rows("SELECT chunk_no, scopes, at, index_hash, embedding::text FROM chunk_embeddings ORDER BY 1")
    assert [row[0] for row in found] == numbers
    assert found[0][1] == [CHAT, ANNA]
    assert (found[0][2] - START).total_seconds() == 60 * numbers[0]
    assert found[0][3] == f"h{numbers[0]}"
    for row, vector in zip(found, vectors, strict=True):
        assert np.array_equal(np.array(eval(row[4]), dtype=np.float16), vector.astype(np.float16))
    stored = rig.rows("SELECT DISTINCT chunk_no, code::text FROM chunk_codes ORDER BY 1")
    assert stored == [(number, text_of_code(vector)) for number, vector in zip(numbers, vectors, strict=True)]
    assert rig.counts(space.id) == {EVERYTHING: 3, CHAT: 3, ANNA: 3}
    assert rig.vectors.missing(space.id, [(numbers[0], f"h{numbers[0]}"), (numbers[1], "other")]) == {numbers[1]}
    rig.assert_consistent()


def test_saving_again_changes_nothing_and_a_chunk_that_moves_leaves_its_scopes(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers, vectors = rig.chunks(4), unit(4)
    for _ in range(2):
        rig.save(space.id, numbers, vectors, scopes=(CHAT, ANNA))
    rig.save(space.id, numbers[:2], vectors[:2], scopes=(CHAT, BORIS))
    rig.save(space.id, numbers[3:], vectors[3:], scopes=())
    assert rig.counts(space.id) == {EVERYTHING: 4, CHAT: 3, ANNA: 1, BORIS: 2}
    rig.assert_consistent()


def test_a_chunk_twice_in_one_call_counts_once(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    (number,), vectors = rig.chunks(1), unit(2)
    rows = [VectorRow(number, (CHAT, CHAT), START, f"v{position}", one) for position, one in enumerate(vectors)]
    assert rig.vectors.save(space.id, rows) == 1
    assert rig.rows("SELECT index_hash FROM chunk_embeddings") == [("v1",)]
    assert rig.counts(space.id) == {EVERYTHING: 1, CHAT: 1}


def test_spaces_count_for_themselves_and_a_deletion_reaches_all(rig: VectorRig) -> None:
    one, other = rig.spaces.open("stub:a"), rig.spaces.open("stub:b")
    numbers = rig.chunks(3)
    rig.save(one.id, numbers, unit(3, 64), scopes=(CHAT, ANNA))
    rig.save(other.id, numbers[:2], unit(2, 96), scopes=(CHAT, ANNA))
    rig.vectors.delete([numbers[0], 99])
    assert rig.counts(one.id) == {EVERYTHING: 2, CHAT: 2, ANNA: 2}
    assert rig.counts(other.id) == {EVERYTHING: 1, CHAT: 1, ANNA: 1}
    rig.vectors.delete([])
    rig.assert_consistent()


def test_what_is_gone_by_now_is_passed_over(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers = rig.chunks(3)
    rig.run("DELETE FROM memory_chunks WHERE no = %(no)s", no=numbers[1])
    assert rig.save(space.id, numbers, unit(3)) == 2
    rig.run("DELETE FROM memory_chunks")
    assert rig.save(space.id, numbers, unit(3)) == 0
    assert rig.vectors.save(space.id, []) == 0


def test_a_chunk_of_another_time_has_one_code_a_scope_and_only_where_it_belongs(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    (number,), vectors = rig.chunks(1), unit(2)
    for scopes, at in (((CHAT, ANNA), START), ((CHAT, ANNA), START + timedelta(days=1)), ((CHAT,), START)):
        assert rig.vectors.save(space.id, [VectorRow(number, scopes, at, str(at), vectors[0])]) == 1
        assert rig.rows("SELECT DISTINCT at FROM chunk_codes") == [(at,)]
        assert rig.counts(space.id) == dict.fromkeys((EVERYTHING, *scopes), 1)
    rig.assert_consistent()


def test_saving_and_deleting_read_by_key_however_small_the_tables_were_at_first(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    read = "SELECT sum(seq_tup_read)::int FROM pg_stat_user_tables WHERE relname IN ('chunk_codes', 'chunk_embeddings')"
    for step in range(15):  # plans are kept from the tenth on
        numbers = rig.chunks(40, first=40 * step + 1)
        rig.save(space.id, numbers, unit(40), scopes=(CHAT, ANNA))
        rig.vectors.delete(numbers[:5])
    rig.run("SELECT pg_stat_force_next_flush()")
    assert rig.rows(read)[0][0] < 100


def test_codes_left_by_a_killed_deletion_are_swept_up(rig: VectorRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg_pipeline.adapters.postgres.recall.vector_indexes.CHANGED_LEAST", 1)
    space = rig.spaces.open("stub:a")
    numbers = rig.chunks(3)
    rig.save(space.id, numbers, unit(3))
    rig.run("DELETE FROM memory_chunks WHERE no = %(no)s", no=numbers[1])  # cascades to the vectors, not to codes
    assert rig.counts(space.id) == {EVERYTHING: 3, CHAT: 3}
    rig.run("SELECT pg_stat_force_next_flush()")
    rig.vectors.keep_indexes()
    assert rig.counts(space.id) == {EVERYTHING: 2, CHAT: 2}
    rig.assert_consistent()


def test_a_deletion_within_the_callers_transaction_goes_with_it(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers = rig.chunks(2)
    rig.save(space.id, numbers, unit(2))
    with rig.connections.connection() as connection:
        with connection.transaction(force_rollback=True):
            vector_store.delete_in(connection, [numbers[0]])
        assert rig.counts(space.id) == {EVERYTHING: 2, CHAT: 2}
        with connection.transaction():
            vector_store.delete_in(connection, [numbers[0]])
            connection.execute("DELETE FROM memory_chunks WHERE no = %s", [numbers[0]])
    assert rig.counts(space.id) == {EVERYTHING: 1, CHAT: 1}
    rig.assert_consistent()


def test_another_number_of_dimensions_is_refused(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers = rig.chunks(2)
    rig.save(space.id, numbers[:1], unit(1, 64))
    assert rig.spaces.open("stub:a").dimensions == 64
    with pytest.raises(SpaceMismatch, match="holds vectors of 64 dimensions, these have 65"):
        rig.save(space.id, numbers, unit(2, 65))
    rows = [VectorRow(numbers[0], (), START, "h", unit(1, size)[0]) for size in (64, 32)]
    rows[1] = VectorRow(numbers[1], (), START, "h", rows[1].embedding)
    with pytest.raises(SpaceMismatch, match="together"):
        rig.vectors.save(space.id, rows)
    with pytest.raises(SpaceMismatch, match="was dropped"):
        rig.save(77, numbers, unit(2))
    assert rig.counts(space.id) == {EVERYTHING: 1, CHAT: 1}


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 3.0])
def test_a_vector_that_no_search_can_use_is_refused(rig: VectorRig, wrong: float) -> None:
    space = rig.spaces.open("stub:a")
    numbers, vectors = rig.chunks(2), unit(2)
    vectors[1, 5] = wrong
    with pytest.raises(ValueError, match="a vector"):
        rig.save(space.id, numbers, vectors)
    assert rig.counts(space.id) == {}
    vectors[1] = 0  # nothing to see in the text: saved, so that it is not asked for again
    assert rig.save(space.id, numbers, vectors) == 2


def test_savers_and_deleters_at_once_neither_wait_for_one_another_nor_miscount(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers, vectors = rig.chunks(60), unit(60)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(12):
            chosen = rng.permutation(60)[:20]
            if rng.random() < 0.2:
                rig.vectors.delete([numbers[one] for one in chosen])
            else:
                scopes = [CHAT, *rng.permutation(np.array(PEOPLE, dtype=object))[:2]]
                rig.save(space.id, [numbers[one] for one in chosen], vectors[chosen], scopes=scopes)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    rig.assert_consistent()


@pytest.mark.parametrize(
    "step", ["make_given", "forget_gone", "leave_scopes", "save_embeddings", "save_codes", "count"]
)
def test_a_saver_killed_at_any_step_leaves_nothing_half(
    rig: VectorRig, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    space = rig.spaces.open("stub:a")
    numbers, vectors = rig.chunks(4), unit(4)
    rig.save(space.id, numbers[:2], vectors[:2], scopes=(CHAT, ANNA))
    rig.run("DELETE FROM memory_chunks WHERE no = %(no)s", no=numbers[3])
    before = rig.rows("SELECT * FROM chunk_scopes ORDER BY scope")
    run = Statements.execute

    def killing(self, connection, name: str, *given):
        if name == step:
            with psycopg.connect(rig.url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])
        return run(self, connection, name, *given)

    monkeypatch.setattr(Statements, "execute", killing)
    with pytest.raises(psycopg.OperationalError):
        rig.save(space.id, numbers, vectors, scopes=(BORIS,))
    assert rig.rows("SELECT * FROM chunk_scopes ORDER BY scope") == before
    rig.assert_consistent()
    monkeypatch.setattr(Statements, "execute", run)
    assert rig.save(space.id, numbers, vectors, scopes=(BORIS,)) == 3
    assert rig.counts(space.id) == {EVERYTHING: 3, BORIS: 3}
    rig.assert_consistent()


def test_a_chunk_of_nobody_is_in_everything_alone(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    rig.save(space.id, rig.chunks(1), unit(1), scopes=(UUID(int=0),))
    assert rig.counts(space.id) == {EVERYTHING: 1}
