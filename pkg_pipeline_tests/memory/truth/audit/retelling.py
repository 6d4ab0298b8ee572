"""Other rewordings and faults of an audit, written after the gates were mended by the first ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from pkg_pipeline_tests.memory.truth.talks import Part, Talk, Variant

_STRANGERS = {"ru": "Игнат", "en": "Rupert", "zh": "鲁达明"}
_TAKEN_BACK = {
    "ru": ", но потом передумали",
    "en": ", but then they changed their mind",
    "zh": "，后来又反悔了",
}
_ALSO = {"ru": " в 7:40", "en": " at 7:40", "zh": "，7点40分"}
_PLACE = {"ru": " в Самаре", "en": " in Toronto", "zh": "，地点在哈尔滨"}
_SMALLER = (
    ("кг", "г"),
    ("недели", "дня"),
    ("штук", "коробок"),
    ("kilos", "grams"),
    ("weeks", "days"),
    ("公斤", "克"),
    ("两周", "两天"),
)
_AGREED = {"ru": "Договорились: ", "en": "Agreed: ", "zh": "双方约定："}
_NUMBER = re.compile(r"(?<![\d.,:])(?:\d{1,3}(?:[ ,]\d{3})+|\d+)(?![\d:]|[.,]\d)")


def generated(talk: Talk, part: Part) -> Iterator[Variant]:
    """What can be made of one part; nothing of one that is wrong already."""
    if part.fault is not None:
        return
    for kind, is_right, fields in (*_wrong(talk, part), *_right(talk, part)):
        if any(part.fields.get(name) != value for name, value in fields.items()):
            yield Variant(kind, is_right, fields, is_generated=True)


def _wrong(talk: Talk, part: Part) -> Iterator[tuple[str, bool, dict[str, str]]]:
    text = part.fields["text"]
    end = "。" if talk.language == "zh" else "."
    bare, stop = text.rstrip(end), end if text.endswith(end) else ""
    actor = _actor(talk, text)
    if actor is not None:
        yield "stranger", False, {"text": _STRANGERS[talk.language] + text[len(actor) :]}
    yield "taken back", False, {"text": bare + _TAKEN_BACK[talk.language] + stop}
    yield "time put in", False, {"text": bare + _ALSO[talk.language] + stop}
    yield "place put in", False, {"text": bare + _PLACE[talk.language] + stop}
    for other in (*_crossed(talk, text), *_exchanged(text)):
        yield "crossed numbers", False, {"text": other}
    for large, small in _SMALLER:
        if re.search(rf"\d ?{large}\b", text) or (large == "两周" and large in text):
            yield "smaller unit", False, {"text": text.replace(large, small, 1)}
    if part.what != "item":
        return
    due, day = part.fields["due"], date.fromisoformat(talk.day)
    if due != "-":
        for days in (1, 7):
            other_day = date.fromisoformat(due) + timedelta(days=days)
            if not _is_named(talk, other_day):
                yield "other due", False, {"due": str(other_day)}
    else:
        yield "due put in", False, {"due": str(day + timedelta(days=11))}
    owner = part.fields["owner"]
    if part.fields["kind"] == "action" and owner in {"self", "them"} and len(talk.others) == 1:
        yield "other owner", False, {"owner": "them" if owner == "self" else "self"}


def _right(talk: Talk, part: Part) -> Iterator[tuple[str, bool, dict[str, str]]]:
    text = part.fields["text"]
    if found := re.search(r"(?<=\d)[ ,](?=\d{3})", text):
        gap = "\u00a0" if talk.language == "ru" else ""
        yield "gap", True, {"text": text[: found.start()] + gap + text[found.end() :]}
    if part.what == "item":
        said = next(who for number, who, words in talk.said if part.fields["quote"] in words)
        marks = ("«", "»") if talk.language == "ru" else ("“", "”")
        joint = "：" if talk.language == "zh" else ": "
        yield "as said", True, {"text": f"{said}{joint}{marks[0]}{part.fields['quote']}{marks[1]}"}
        yield "full stop", True, {"text": text + ("。" if talk.language == "zh" else ".")}
        if part.fields["due"] != "-":
            yield "due told", True, {"text": f"{text} ({part.fields['due']})"}
        if part.fields["owner"] == "both":
            yield "agreed", True, {"text": _AGREED[talk.language] + text}
    for name in (talk.me, *talk.others):
        first, _, last = name.partition(" ")
        if last and text.startswith(f"{first} ") and not text.startswith(name):
            yield "turned name", True, {"text": f"{last} {first}{text[len(first) :]}"}
            yield "initial", True, {"text": f"{first} {last[0]}.{text[len(first) :]}"}


def _actor(talk: Talk, text: str) -> str | None:
    names = [talk.me, *talk.others]
    starts = [*names, *(name.split()[0] for name in names)]
    return next((one for one in starts if text.startswith(one)), None)


def _crossed(talk: Talk, text: str) -> Iterator[str]:
    """A number of the text replaced by another one of the talk that has as many digits and is not in the text."""
    mine = [_plain(one) for one in _NUMBER.findall(text)]
    said = [one for _, _, words in talk.said for one in _NUMBER.findall(words)]
    for found in _NUMBER.finditer(text):
        size = len(_plain(found.group()))
        other = next((one for one in said if len(_plain(one)) == size and _plain(one) not in mine), None)
        if other is not None and size > 1:
            yield text[: found.start()] + other + text[found.end() :]


def _exchanged(text: str) -> Iterator[str]:
    """The first two numbers in each other's place."""
    found = list(_NUMBER.finditer(text))[:2]
    if len(found) == 2 and _plain(found[0].group()) != _plain(found[1].group()):
        one, other = found
        middle = text[one.end() : other.start()]
        yield text[: one.start()] + other.group() + middle + one.group() + text[other.end() :]


def _is_named(talk: Talk, day: date) -> bool:
    return any(re.search(rf"(?<!\d){day.day}(?!\d)", words) for _, _, words in talk.said)


def _plain(number: str) -> str:
    return number.replace(" ", "").replace(",", "")
