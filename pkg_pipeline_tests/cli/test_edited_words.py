"""Between an edit and the next run whatever rests on the edited message says so: contexts, lists, recall (P29)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline_tests.cli.processes import Program, line, written

NOW = "2025-02-27T12:00:00+00:00"
TALK = (
    ("Olga", "What would you take for the kitchen?"),
    ("Me", "We agreed: the price is 5000 EUR."),
    ("Olga", "Agreed, deal at 5000 EUR. My new number is +31 6 1234 5678"),
    ("Me", "I will send the contract by 7 March."),
)


BEFORE = "The old house stands by the river, and the wind goes through the trees all day. " * 60
"""With less said, the words themselves would be all that is served."""


@pytest.fixture
def edited(given: Program) -> Program:
    """A price, a number and a promise of January; the price is edited in February."""
    given.variables |= {"PKG_NOW": NOW, "PKG_LLM": "offline", "PKG_SUMMARY_MIN_AGE_DAYS": "1"}
    given.variables["PKG_HOT_DAYS"] = "7"
    lines = [line(n, who, text, is_self=who == "Me", day=13) for n, (who, text) in enumerate(TALK)]
    lines.append(line(9, "Olga", BEFORE, is_self=False, day=2))
    folder = given.home.parent / "exports"
    given.ok("import", written(folder / "one.jsonl", lines))
    given.ok("run")
    return given


def edit(program: Program, number: int, text: str, *, at: str = "2025-02-26T09:00:00+00:00") -> None:
    who = TALK[number][0]
    new = {**line(number, who, text, is_self=who == "Me", day=13), "edited_at": at}
    program.ok("import", written(Path(program.home).parent / "exports" / f"{number} {at[:10]}.jsonl", [new]))


def marked(program: Program, *more: str) -> dict[str, list[str]]:
    """Marks of the items and facts of a context, by their kind; how sure they are apart."""
    tiers = program.ok("context", "Olga", "--json", *more).json["tiers"]
    lines: list[dict[str, Any]] = [one for tier in tiers for one in tier["items"]]
    marks = {one["kind"]: one["marks"] for one in lines if one["kind"] not in ("message", "summary")}
    return {kind: [mark for mark in own if mark != "perhaps"] for kind, own in marks.items()}


def stale_items(program: Program) -> dict[str, bool]:
    found = [program.ok("items", "list", "--kind", kind, "--json").json for kind in ("decision", "action_item")]
    return {one["kind"]: one["stale"] for answer in found for one in answer["items"]}


def recalled(program: Program, question: str, *sources: str) -> dict[str, bool]:
    results = program.ok("recall", question, "--top-k", "50", "--json").json["results"]
    return {one["source"]: one["stale"] for one in results if one["source"] in sources}


def noted(text: str) -> list[str]:
    return [line for line in text.splitlines() if "edited since" in line]


def test_what_rests_on_an_edited_message_is_marked_until_it_is_read_again(edited: Program) -> None:
    assert marked(edited) == {"decision": [], "action_item": [], "fact": []}
    edit(edited, 1, "We agreed: the price is 6000 EUR.")
    assert marked(edited) == {"decision": ["stale"], "action_item": [], "fact": []}
    assert marked(edited, "--hint", "the price")["decision"] == ["stale"]
    (decision,) = noted(edited.ok("context", "Olga").out)
    assert "5000" in decision
    assert stale_items(edited) == {"decision": True, "action_item": False}
    assert len(noted(edited.ok("items", "list", "--kind", "decision", COLUMNS="200").out)) == 1
    assert recalled(edited, "price of the kitchen", "message", "summary") == {"message": False, "summary": True}
    assert noted(edited.ok("recall", "price of the kitchen").out)
    edited.ok("run")
    assert marked(edited) == {"decision": [], "action_item": [], "fact": []}
    assert stale_items(edited) == {"decision": False, "action_item": False}
    assert not noted(edited.ok("context", "Olga").out + edited.ok("recall", "price of the kitchen").out)


def test_facts_and_promises_are_marked_too(edited: Program) -> None:
    edit(edited, 2, "Agreed. My new number is +31 6 8765 4321")
    edit(edited, 3, "I will send the contract by 9 March.")
    assert marked(edited) == {"decision": ["stale"], "action_item": ["stale"], "fact": ["stale"]}
    card = edited.ok("context", "Olga", "--json").json["card"]
    assert [(fact["type"], fact["stale"]) for fact in card["facts"]] == [("phone", True)]
    assert recalled(edited, "number of Olga, contract", "fact", "action_item") == {"fact": True, "action_item": True}
    edited.ok("run")
    assert set(map(tuple, marked(edited).values())) == {()}
    assert "+31687654321" in edited.ok("context", "Olga").out.replace(" ", "")


def test_words_that_are_edited_back_before_anybody_read_them_are_as_they_were(edited: Program) -> None:
    edit(edited, 1, "We agreed: the price is 6000 EUR.")
    assert stale_items(edited)["decision"]
    edit(edited, 1, TALK[1][1], at="2025-02-26T10:00:00+00:00")
    assert not stale_items(edited)["decision"]
