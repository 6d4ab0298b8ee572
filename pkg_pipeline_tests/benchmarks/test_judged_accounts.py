"""The accounts that only judge: they load, are labelled consistently, and training never reads them (B2)."""

from __future__ import annotations

from datetime import datetime

import pytest

from benchmarks import judged_accounts
from training import accounts, worlds
from training.told_worlds import worlds_of
from training.worlds import Label, World

PATHS = sorted(judged_accounts.ACCOUNTS.glob("*.txt"))
WORLDS = worlds.load(judged_accounts.ACCOUNTS)


def test_training_reads_none_of_them() -> None:
    read = {one.name for one in (*accounts.load(), *worlds.load())}
    assert WORLDS
    assert read.isdisjoint(world.name for world in WORLDS)
    assert not any(path.is_relative_to(judged_accounts.ROOT / "training") for path in PATHS)


def test_no_line_of_them_is_a_line_of_training() -> None:
    known = {text for world in (*accounts.load(), *worlds.load()) for text in world.text_of.values()}
    for world in WORLDS:
        copied = {text for text in world.text_of.values() if len(text) > 30 and text in known}
        assert not copied, world.name


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_labels_are_consistent(world: World) -> None:
    said_at = {one.external_id: one.sent_at for talk in world.talks for one in talk.messages}
    words = "\n".join((*world.text_of.values(), *(one.name for talk in world.talks for one in talk.participants)))
    assert len(said_at) >= 120
    assert sum(one.kind == "action_item" for one in world.items) >= 12
    assert world.facts
    for label in world.items:
        _check(label, said_at)
        if label.superseded_by is not None:
            later = next(one for one in world.items if one.ref == label.superseded_by)
            assert later.kind == label.kind == "decision", label.text
            assert said_at[later.messages[0]] >= said_at[label.messages[0]], label.text
        if label.owner is not None:
            assert label.owner.name in words, label.text
    talked = {one.sender.name for talk in world.talks for one in talk.messages}
    assert set(world.types) <= talked


def _check(label: Label, said_at: dict[str, datetime]) -> None:
    begun = min(said_at[key] for key in label.messages)
    assert not (label.closed_by and label.cancelled_by), label.text
    assert all(said_at[key] >= begun for key in label.closed_by | label.cancelled_by), label.text
    for keys, day in label.renewed:
        assert all(said_at[key] > begun for key in keys), label.text
        assert day is None or day >= min(said_at[key] for key in keys).date(), label.text
    if label.kind == "decision":
        assert not any((label.closed_by, label.renewed, label.due)), label.text
        assert label.proposed_by or label.agreed_by, label.text
    else:
        assert label.superseded_by is None, label.text
        assert label.due is None or label.due >= begun.date(), label.text


def test_everybody_of_a_dialog_has_a_type() -> None:
    for path in PATHS:
        for name, row in worlds_of(path).items():
            dialogs = {chat["title"] for chat in row["chats"] if chat["kind"] == "direct"}
            assert dialogs <= row["types"].keys(), name


def test_pleasantries_are_said_and_no_tasks() -> None:
    told = judged_accounts.pleasantries(judged_accounts.ACCOUNTS)
    assert told.keys() <= {world.name for world in WORLDS}
    for world in (one for one in WORLDS if one.name in told):
        tasks = {world.text_of[key] for one in world.items if one.kind == "action_item" for key in one.messages}
        words = "\n".join(world.text_of.values())
        assert not [one for one in told[world.name] if one not in words], world.name
        assert tasks.isdisjoint(told[world.name]), world.name
