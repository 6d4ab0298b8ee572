"""Whether a sentence says outright that a value is of who speaks or of who is named right there (P13)."""

from __future__ import annotations

from typing import Final, Literal

from pkg_pipeline.memory.text.language_data import table
from pkg_pipeline.offline.facts.mentions import Mention, said
from pkg_pipeline.offline.facts.told import is_place
from pkg_pipeline.offline.facts.words import cue
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.reading import Sentence
from pkg_pipeline.offline.weighing import is_question

Plainly = Literal["own", "yours", "theirs"]
_ASKED_BY: Final = {"does": "does", "trade": "does"} | dict.fromkeys(
    ("event", "likes", "order", "no", "takes", "does not do", "not for me", "in place"), "nothing"
)
"""Ways of telling with patterns of their own, or with none; else they are those of the kind."""
_OTHERS: Final = frozenset({"speaker: nearest is another", "speaker: nearest is a stranger"})
HERE: Final = "▮"
"""Stands for the value in the patterns."""
_THEIRS: Final = tuple(
    {f"{way} before, {place}", f"{way} before, same clause"}
    for way in ("named", "theirs")
    for place in ("nearest", "last of others")
)
"""Of somebody else a value is outright who is named last before it, also before "у меня"."""


def plainly(mention: Mention, text: str, sentence: Sentence) -> Plainly | None:
    """Of whom the words around a mention say it outright; None where they only may."""
    language = sentence.language
    patterns = table("offline", language, "mentions")["patterns"]
    if mention.kind == "organization" and is_place(mention.value):
        return None
    lead, what = text[: mention.start], _ASKED_BY.get(mention.by, mention.kind)
    around = f"{lead}{HERE}{text[mention.end :]}"
    if what == "family" and said(language, "yours_family").search(around):
        return "yours"  # also where something is asked or imagined of them
    if f"own_{what}" not in patterns or is_question(text) or cue(language, "unreal").search(text):
        return None
    if (
        said(language, "negated").search(lead)
        or said(language, "guessed").search(text)
        or said(language, "past").search(lead)
    ):
        return None
    if said(language, f"theirs_{what}").search(around):
        return "theirs"
    return "own" if said(language, f"own_{what}").search(around) else None


def is_meant(plain: Plainly | None, bearer: Named) -> bool:
    """Whether somebody with these features is whom the words say."""
    if plain == "theirs":
        return any(bearer.keys() >= wanted for wanted in _THEIRS)
    if plain == "yours":
        return "bearer is addressed" in {name.partition(": ")[2] for name in bearer}
    return plain == "own" and "speaker: bearer takes part" in bearer and not _OTHERS & bearer.keys()
