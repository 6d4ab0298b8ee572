"""Worlds without evidence lack what keeps some promises, and nothing that makes or moves any."""

from __future__ import annotations

from training import accounts
from training.without_evidence import cuts


def test_what_keeps_a_promise_is_gone_and_what_makes_one_stays() -> None:
    for world in accounts.load()[::8]:
        labels = {one.ref: one for one in world.items}
        found: set[str] = set()
        for cut in cuts(world):
            left = {message.external_id for talk in cut.world.talks for message in talk.messages}
            for ref in cut.wanting:
                assert not labels[ref].closed_by & left, f"{world.name} {ref}"
                assert labels[ref].messages[0] in left
            for one in cut.world.items:
                named = {*one.messages, *one.closed_by, *one.cancelled_by}.union(*(keys for keys, _ in one.renewed))
                assert named <= left, f"{world.name} {one.ref}"
            for talk in cut.world.talks:
                assert [one.number for one in talk.messages] == list(range(1, len(talk.messages) + 1))
                assert len(cut.places[talk.interaction_id]) == len(talk.messages)
            found |= cut.wanting
        kept = [one for one in world.items if one.kind == "action_item" and one.closed_by]
        assert len(found) > len(kept) / 2, world.name
