"""Who may be meant by a value, and by what: every hypothesis with its features, for ``fact_head`` to choose (P13)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.memory.records import Person
from pkg_pipeline.offline.facts.mentions import Mention
from pkg_pipeline.offline.facts.whose import UNSAID, Whose, antecedent, asked_before, by_name, marked
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.reading import Line, Reading, Sentence

_LINK: Final = re.compile(
    r"^\s*(?:i ?['’]?m|i am|s?he ?['’]?s|s?he is|я|он|она|我|他|她|my|our|мо[йя])?\s*"
    r"(?:[,(（:：—–-]|это|is|['’]s|就?是|，)?\s*(?:(?:the|an?|our|your|наш\w?|ваш\w?|теперь|now) )*$",
    re.IGNORECASE,
)
_GROUPS: Final = frozenset({"group mine", "group you", "group he", "group who"})
_Bearer = tuple[Person | None, str | None]
_CLAUSE: Final = re.compile(r"[,;:.!?()（）—–，。；！？、\n]| - ")


@dataclass(frozen=True, slots=True)
class Way:
    """Somebody who may be meant, and what speaks for it."""

    person: Person | None
    name: str | None
    features: Named


def ways_of(mention: Mention, text: str, sentence: Sentence, line: Line, reading: Reading) -> list[Way]:
    """Every hypothesis of whose a mention is; ``text``: the sentence with its names in capitals."""
    found: dict[_Bearer, Named] = {}

    def note(whose: Whose, *features: str) -> None:
        if whose.person is None and whose.name is None:
            return
        found.setdefault((whose.person, whose.name), {}).update(dict.fromkeys(features, 1.0))

    kind = mention.kind
    marks = [one for one in marked(text, line, reading, kind) if not mention.start <= one.place <= mention.end]
    before = [one for one in marks if one.place < mention.start]
    after = [one for one in marks if one.place > mention.end]
    nearest = before[-1].whose if before else None
    own, addressed = Whose("own", line.speaker), reading.addressee(line)
    note(own, "speaker", "speaker: nobody named" if not marks else "speaker: somebody named")
    if addressed is not None:
        note(Whose("yours", addressed), "addressee")
    for at, one in enumerate(before):
        gap = text[one.place : mention.start]
        names = [f"{one.whose.way} before"]
        names += [f"{names[0]}, nearest"] if at == len(before) - 1 else []
        names += [f"{names[0]}, same clause"] if not _CLAUSE.search(gap) else []
        names += [f"{names[0]}, adjacent"] if _LINK.match(gap) else []
        note(_meant(one.whose, line, text[: one.place], reading), *names)
    for at, one in enumerate(after):
        gap = text[mention.end : one.place]
        names = [f"{one.whose.way} after"]
        names += [f"{names[0]}, nearest"] if at == 0 else []
        names += [f"{names[0]}, same clause"] if not _CLAUSE.search(gap) else []
        is_beside = one.whose.way == "named" and len(gap.split()) <= 2 and not _CLAUSE.search(gap.strip(" ,，"))
        names += [f"{names[0]}, adjacent"] if is_beside else []
        note(_meant(one.whose, line, text[: one.place], reading), *names)
    _by_groups(mention, text, line, reading, note)
    for one in line.sentences:
        if one.place != sentence.place:
            for mark in marked(one.text, line, reading, kind):
                if mark.whose.way == "named":
                    note(
                        mark.whose,
                        "named in another sentence",
                        f"named {'before' if one.place < sentence.place else 'after'}",
                    )
    if (asked := asked_before(kind, line, reading)).way != "unsaid":
        note(asked, "asked for")
    if not before and line.index:
        note(antecedent(line, "", reading), "told of before")
    return [
        Way(person, name, _with_bearer(person, features, nearest, line, addressed))
        for (person, name), features in _without_others(found).items()
    ]


def _without_others(found: dict[_Bearer, Named]) -> dict[_Bearer, Named]:
    """Where the words beside a value say whose it is, everybody else is marked."""
    said = {one for one, features in found.items() if _GROUPS & features.keys()}
    return {
        one: features if not said or one in said else features | {"the words say another": 1.0}
        for one, features in found.items()
    }


def _meant(whose: Whose, line: Line, lead: str, reading: Reading) -> Whose:
    is_pronoun = whose.way == "theirs" and whose.person is None and whose.name is None
    return antecedent(line, lead, reading) if is_pronoun else whose


def _by_groups(mention: Mention, text: str, line: Line, reading: Reading, note) -> None:  # pyright: ignore
    groups = mention.groups
    if groups.get("mine") or groups.get("my"):
        note(Whose("own", line.speaker), "group mine")
    if groups.get("you"):
        person = reading.addressee(line)
        note(UNSAID if person is None else Whose("yours", person), "group you")
    if groups.get("he"):
        note(antecedent(line, text[: mention.start], reading, groups["he"] or ""), "group he")
    if who := groups.get("who"):
        note(by_name(who, reading, line.language), "group who")


def _with_bearer(
    person: Person | None, features: Named, nearest: Whose | None, line: Line, addressed: Person | None
) -> Named:
    checks = {
        "bearer takes part": person is not None,
        "bearer is me": person is not None and person.is_self,
        "bearer is addressed": person is not None and person == addressed,
        "bearer is the speaker": person == line.speaker,
        "nearest is another": nearest is not None and person is not None and nearest.person not in (None, person),
        "nearest is a stranger": nearest is not None and nearest.name is not None,
        "nearest is theirs": nearest is not None and nearest.way == "theirs",
    }
    is_own = "speaker: " if person == line.speaker else "addressee: " if person == addressed else "other: "
    return features | {f"{is_own}{name}": 1.0 for name, holds in checks.items() if holds}
