"""Spaces of vectors: one is asked, another grows beside it, the switch leaves no gap, what goes leaves nothing (B4)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.recall.records import Space, SpaceMismatch
from pkg_pipeline_tests.adapters.postgres.recall.vector_rig import VectorRig, unit

TALK = UUID(int=7)


@pytest.fixture
def rig(database_url: str) -> Iterator[VectorRig]:
    made = VectorRig(database_url, scan_limit=10, size=8)
    yield made
    made.close()


def states(rig: VectorRig) -> dict[str, str]:
    return {space.model: space.state for space in rig.spaces.spaces()}


def complete(rig: VectorRig, space_id: int, interaction: UUID, *, refused: int = 0) -> None:
    rig.run(
        "INSERT INTO chunk_states (interaction_id, space_id, input_hash, chunks, refused)"
        " VALUES (%(interaction)s, %(space)s, 'x', 9, %(refused)s)",
        interaction=interaction,
        space=space_id,
        refused=refused,
    )


def test_the_first_space_is_asked_at_once_every_other_one_grows_beside_it(rig: VectorRig) -> None:
    assert rig.spaces.active() is None
    first = rig.spaces.open("stub:a")
    assert rig.spaces.active() == first == Space(first.id, "stub:a", None, "active")
    assert rig.spaces.open("stub:b").state == "building"
    assert rig.spaces.open("stub:a") == first
    assert states(rig) == {"stub:a": "active", "stub:b": "building"}


def test_several_processes_open_one_space(rig: VectorRig) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(rig.spaces.open, ["stub:a", "stub:b", "stub:c"] * 6))
    assert len({space.id for space in found}) == 3
    assert sorted(states(rig).values()) == ["active", "building", "building"]


def test_the_switch_waits_for_the_last_vector(rig: VectorRig) -> None:
    old, new = rig.spaces.open("stub:a"), rig.spaces.open("stub:b")
    numbers = rig.chunks(5, interaction=TALK)
    rig.save(old.id, numbers, unit(5))
    rig.save(new.id, numbers[:4], unit(4, 96))
    assert rig.spaces.missing(new.id) == (1, 1)
    with pytest.raises(SpaceMismatch, match="1 vectors of 1 interactions are missing"):
        rig.spaces.activate(new.id)
    rig.save(new.id, numbers[4:], unit(1, 96), index_hash="older words")
    with pytest.raises(SpaceMismatch):
        rig.spaces.activate(new.id)
    assert states(rig) == {"stub:a": "active", "stub:b": "building"}
    rig.save(new.id, numbers[4:], unit(1, 96))
    rig.spaces.activate(new.id)
    rig.spaces.activate(new.id)
    assert states(rig) == {"stub:a": "retired", "stub:b": "active"}
    assert rig.rows("SELECT activated_at IS NOT NULL FROM embedding_spaces") == [(True,), (True,)]
    rig.spaces.activate(old.id)
    assert states(rig) == {"stub:a": "active", "stub:b": "retired"}
    with pytest.raises(SpaceMismatch, match="was dropped"):
        rig.spaces.activate(99)
    assert states(rig) == {"stub:a": "active", "stub:b": "retired"}


def test_what_the_embedder_refused_does_not_hold_the_switch_up(rig: VectorRig) -> None:
    rig.spaces.open("stub:a")
    new = rig.spaces.open("stub:b")
    numbers = rig.chunks(5, interaction=TALK)
    rig.save(new.id, numbers[:4], unit(4, 96))
    complete(rig, new.id, TALK, refused=1)
    rig.chunks(1, interaction=UUID(int=8), first=6)
    assert rig.spaces.missing(new.id) == (1, 1)
    rig.save(new.id, [numbers[-1] + 1], unit(1, 96))
    rig.spaces.activate(new.id)


def test_an_interaction_that_lost_vectors_is_made_anew(rig: VectorRig) -> None:
    space = rig.spaces.open("stub:a")
    numbers = rig.chunks(2, interaction=TALK) + rig.chunks(2, interaction=UUID(int=8), first=3)
    rig.save(space.id, numbers, unit(4))
    for interaction in (TALK, UUID(int=8)):
        complete(rig, space.id, interaction)
    assert rig.spaces.forget_incomplete(space.id) == 0
    rig.vectors.delete([numbers[0]])
    assert rig.spaces.forget_incomplete(space.id) == 1
    assert rig.rows("SELECT interaction_id FROM chunk_states") == [(UUID(int=8),)]


def filled(rig: VectorRig) -> tuple[Space, Space]:
    """An old space that was asked before, and the one that is asked now; both with an index."""
    old, new = rig.spaces.open("stub:a"), rig.spaces.open("stub:b")
    numbers = rig.chunks(20, interaction=TALK)
    rig.save(old.id, numbers, unit(20))
    rig.save(new.id, numbers, unit(20, 96))
    rig.vectors.keep_indexes(new.id)
    rig.spaces.activate(new.id)
    for space_id in (0, old.id, new.id):
        complete(rig, space_id, TALK)
    return old, new


def traces(rig: VectorRig, space_id: int) -> int:
    tables = ("chunk_embeddings", "chunk_codes", "chunk_scopes", "chunk_states")
    rows = [rig.rows(f"SELECT count(*) FROM {name} WHERE space_id = %(s)s", s=space_id)[0][0] for name in tables]
    prefix = f"chunk_vectors_{space_id}_"
    return sum(rows) + rig.rows("SELECT count(*) FROM pg_class WHERE starts_with(relname, %(p)s)", p=prefix)[0][0]


def test_a_dropped_space_leaves_nothing_and_the_active_one_cannot_be_dropped(rig: VectorRig) -> None:
    old, new = filled(rig)
    before = traces(rig, new.id)
    assert traces(rig, old.id) > 0
    assert rig.spaces.drop(old.id) == 20
    assert rig.spaces.drop(old.id) == 0
    assert traces(rig, old.id) == 0
    with pytest.raises(SpaceMismatch, match="the one that is asked"):
        rig.spaces.drop(new.id)
    assert traces(rig, new.id) == before
    assert states(rig) == {"stub:b": "active"}
    rig.assert_consistent()


@pytest.mark.parametrize("step", ["begin_drop", "drop_states", "remove"])
def test_a_drop_that_was_cut_short_leaves_nothing_to_go_back_to(
    rig: VectorRig, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old, new = filled(rig)
    run = Statements.execute

    def cut(self, connection, name: str, *given):
        if name == step:
            raise KeyboardInterrupt
        return run(self, connection, name, *given)

    monkeypatch.setattr(Statements, "execute", cut)
    with pytest.raises(KeyboardInterrupt):
        rig.spaces.drop(old.id)
    monkeypatch.setattr(Statements, "execute", run)
    complete = rig.rows("SELECT count(*) FROM chunk_embeddings WHERE space_id = %(s)s", s=old.id) == [(20,)]
    assert (rig.rows("SELECT count(*) FROM chunk_states WHERE space_id = %(s)s", s=old.id) == [(1,)]) <= complete
    rig.spaces.drop(old.id)
    assert traces(rig, old.id) == 0
    assert traces(rig, new.id) > 0


def test_one_at_a_time_fills_a_space(rig: VectorRig) -> None:
    with rig.spaces.filling() as mine, rig.spaces.filling() as other:
        assert (mine, other) == (True, False)
    with rig.spaces.filling() as again:
        assert again
