"""Indexes of big scopes: built beside readers, used by the planner, repaired after a killed build, dropped in time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline.adapters.postgres.recall import vector_indexes
from pkg_pipeline.memory.recall.records import EVERYTHING
from pkg_pipeline_tests.adapters.postgres.recall.vector_rig import CHAT, PEOPLE, VectorRig, unit

ANNA, BORIS = PEOPLE[:2]
LIMIT = 100
NAMES = "SELECT scope, index_name FROM chunk_scopes WHERE index_name IS NOT NULL ORDER BY scope"
INDEXES = (
    "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relname LIKE 'chunk\\_vectors\\_%' ORDER BY 1"
)


@pytest.fixture
def rig(database_url: str) -> Iterator[VectorRig]:
    made = VectorRig(database_url, scan_limit=LIMIT, size=6)
    yield made
    made.close()


def filled(rig: VectorRig, *, model: str = "stub:a", anna: int = 150, boris: int = 50) -> tuple[int, list[int]]:
    """A space with so many chunks of Anna and of Boris: Anna's scope and everything are big, Boris's is not."""
    space = rig.spaces.open(model)
    numbers = rig.chunks(anna, scopes=(ANNA,)) + rig.chunks(boris, scopes=(BORIS,), first=anna + 1)
    vectors = unit(anna + boris)
    rig.save(space.id, numbers[:anna], vectors[:anna], scopes=(ANNA,))
    rig.save(space.id, numbers[anna:], vectors[anna:], scopes=(BORIS,))
    return space.id, numbers


def names(space_id: int) -> dict[object, str]:
    return {EVERYTHING: f"chunk_vectors_{space_id}_all", ANNA: f"chunk_vectors_{space_id}_{ANNA.hex}"}


def test_scopes_that_outgrew_scanning_get_an_index_and_only_those(rig: VectorRig) -> None:
    space_id, _ = filled(rig)
    expected = names(space_id)
    assert set(rig.vectors.keep_indexes()) == set(expected.values())
    assert dict(rig.rows(NAMES)) == expected
    assert rig.vectors.keep_indexes() == []
    assert rig.rows("SHOW max_parallel_maintenance_workers") != [("0",)]


@pytest.mark.parametrize("scope", [EVERYTHING, ANNA])
def test_the_planner_uses_the_index_of_the_scope_and_it_finds_what_is_there(rig: VectorRig, scope) -> None:
    space_id, numbers = filled(rig)
    rig.vectors.keep_indexes()
    within = "" if scope == EVERYTHING else f" AND scopes @> ARRAY['{scope}']::uuid[]"
    question = unit(1, seed=9)[0]
    text = "[" + ",".join(map(str, question)) + "]"
    ask = (
        f"SELECT chunk_no FROM chunk_embeddings WHERE space_id = {space_id}{within}"
        f" ORDER BY (embedding::halfvec(64)) <#> '{text}'::halfvec(64) LIMIT 10"
    )
    with engine.connect(rig.url) as connection:
        connection.execute("SET LOCAL enable_seqscan = off")
        connection.execute("SET LOCAL enable_sort = off")
        connection.execute("SET LOCAL hnsw.ef_search = 400")
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN {ask}".encode()))
        found = [row[0] for row in connection.execute(ask.encode())]
    assert names(space_id)[scope] in plan
    count = 200 if scope == EVERYTHING else 150
    nearest = np.argsort(-(unit(200)[:count].astype(np.float16).astype(np.float32) @ question))[:10]
    assert len({numbers[one] for one in nearest} & set(found)) >= 9


def test_a_build_that_was_killed_is_found_dropped_and_done_again(rig: VectorRig) -> None:
    space_id, _ = filled(rig, boris=0)
    rig.vectors.keep_indexes()
    broken = names(space_id)[ANNA]
    # what a killed CREATE INDEX CONCURRENTLY leaves behind
    rig.run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %(name)s::regclass", name=broken)
    rig.run("UPDATE chunk_scopes SET index_name = NULL WHERE scope = %(scope)s", scope=ANNA)
    assert rig.vectors.keep_indexes() == [broken]
    assert rig.rows(INDEXES) == sorted((name, True) for name in names(space_id).values())
    assert dict(rig.rows(NAMES)) == names(space_id)


def test_a_backend_killed_while_it_builds_leaves_nothing_that_is_used(
    rig: VectorRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    space_id, numbers = filled(rig)
    with psycopg.connect(rig.url) as writer:
        writer.execute("SET search_path = pkg, public")
        # an open writer: the build registers the index, then waits for its end
        writer.execute("UPDATE chunk_embeddings SET at = at WHERE chunk_no = %s", [numbers[0]])
        failures: list[Exception] = []

        def build() -> None:
            try:
                rig.vectors.keep_indexes()
            except psycopg.OperationalError as error:
                failures.append(error)

        thread = threading.Thread(target=build)
        thread.start()
        waiting = (
            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND wait_event_type = 'Lock'"
            " AND datname = current_database()"
        )
        while not (found := rig.rows(waiting)):
            pass
        assert rig.vectors.keep_indexes() == []  # another one is at it
        rig.rows("SELECT pg_terminate_backend(%(pid)s)", pid=found[0][0])
        thread.join()
    assert failures
    assert [is_whole for _, is_whole in rig.rows(INDEXES)] == [False]
    assert rig.rows(NAMES) == []
    assert set(rig.vectors.keep_indexes()) == set(names(space_id).values())
    assert all(is_whole for _, is_whole in rig.rows(INDEXES))


def test_an_index_goes_when_its_scope_is_half_as_big(rig: VectorRig) -> None:
    space_id, numbers = filled(rig)
    rig.vectors.keep_indexes()
    rig.vectors.delete(list(numbers[:90]))
    assert rig.vectors.keep_indexes() == []
    assert dict(rig.rows(NAMES)) == names(space_id)  # 60 of Anna's: between half and all
    rig.vectors.delete(list(numbers[90:110]))
    rig.vectors.keep_indexes()
    assert dict(rig.rows(NAMES)) == {EVERYTHING: f"chunk_vectors_{space_id}_all"}
    assert rig.rows(INDEXES) == [(f"chunk_vectors_{space_id}_all", True)]


def test_an_index_that_somebody_dropped_is_built_again(rig: VectorRig) -> None:
    space_id, _ = filled(rig)
    rig.vectors.keep_indexes()
    rig.run(f"DROP INDEX chunk_vectors_{space_id}_all")
    assert rig.vectors.keep_indexes() == [f"chunk_vectors_{space_id}_all"]
    assert dict(rig.rows(NAMES)) == names(space_id)


def test_a_space_that_is_being_filled_is_indexed_when_it_is_full(rig: VectorRig) -> None:
    space_id, numbers = filled(rig)
    rig.vectors.keep_indexes()
    other = rig.spaces.open("stub:b")
    rig.save(other.id, numbers[:120], unit(120, 96), scopes=(CHAT,))
    assert rig.vectors.keep_indexes() == []
    assert set(rig.vectors.keep_indexes(other.id)) == {
        f"chunk_vectors_{other.id}_all",
        f"chunk_vectors_{other.id}_{CHAT.hex}",
    }
    assert len(rig.rows(INDEXES)) == 4
    rig.spaces.drop(other.id)
    assert [name for name, _ in rig.rows(INDEXES)] == sorted(names(space_id).values())


def test_a_build_without_shared_memory_goes_on_alone(rig: VectorRig, monkeypatch: pytest.MonkeyPatch) -> None:
    space_id, _ = filled(rig)
    run = vector_indexes._ddl
    fails_with_workers = (
        b"DO $$ BEGIN IF current_setting('max_parallel_maintenance_workers') <> '0'"
        b" THEN RAISE disk_full; END IF; END $$"
    )

    def short_of_memory(connection, name: str, **given) -> bytes:
        return fails_with_workers if name == "index_ddl" else run(connection, name, **given)

    monkeypatch.setattr(vector_indexes, "_ddl", short_of_memory)
    assert set(rig.vectors.keep_indexes()) == set(names(space_id).values())


def test_after_a_big_load_codes_are_read_from_their_index_alone(rig: VectorRig) -> None:
    space_id, _ = filled(rig, anna=2000, boris=0)
    rig.run("SELECT pg_stat_force_next_flush()")
    rig.vectors.keep_indexes()
    assert rig.rows("SELECT relname FROM pg_stat_user_tables WHERE vacuum_count > 0 ORDER BY 1") == [
        ("chunk_codes",),
        ("chunk_embeddings",),
        ("memory_chunks",),
    ]
    # how many pages a vacuum may call visible to all hangs on what else the server holds at the moment: not asked here
    ask = (
        "EXPLAIN (COSTS OFF) SELECT chunk_no, at, code FROM chunk_codes"
        f" WHERE space_id = {space_id} AND scope = '{ANNA}' AND at < '2026-01-01 05:00Z'"
    )
    assert "Index Only Scan" in "\n".join(row[0] for row in rig.rows(ask))


def test_an_index_of_codes_that_is_half_empty_is_built_anew_and_a_killed_build_is_cleared_away(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    for step in range(40):  # each scope grows in the midst of others: full pages are split in halves
        for person in PEOPLE:
            rig.save(space.id, rig.chunks(10, scopes=(person,), first=step * 10 + 1), unit(10), scopes=(person,))
    rig.run("CREATE INDEX chunk_codes_scan_ccnew ON chunk_codes (scope)")
    rig.run("SELECT pg_stat_force_next_flush()")
    size = "SELECT pg_relation_size('chunk_codes_scan')::int"
    before = rig.rows(size)[0][0]
    rig.vectors.keep_indexes()
    assert rig.rows(size)[0][0] < 0.8 * before
    built = rig.rows(
        "SELECT indexname::text, indexdef LIKE '%% UNIQUE %%' FROM pg_indexes WHERE tablename = 'chunk_codes'"
    )
    assert built == [("chunk_codes_scan", True)]
