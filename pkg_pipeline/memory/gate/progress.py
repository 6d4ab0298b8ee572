"""How far a matter has come by what was said: done, given up, settled, or only asked and weighed (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache, lru_cache

from pkg_pipeline.memory.gate.calendar import EXACT, blanked, mentions
from pkg_pipeline.memory.gate.duty import SHORT_ANSWER, agrees, agrees_to, behind, found, has, parts_of, refuses
from pkg_pipeline.memory.gate.nearest import STOP, is_question
from pkg_pipeline.memory.gate.polarity import after_denial, modal, polarity
from pkg_pipeline.memory.gate.things import tells
from pkg_pipeline.memory.gate.wording import content, tokens
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count

_LINK_OR_NUMBER = re.compile(r"https?://|\w@\w|\d{5,}|\d{3}[- ]\d{2}|\+\d")
FORWARD = ("promise", "moves", "ask", "condition", "not_done", "unreal", "later_time", "delayed", "plans", "not_yet")
"""Signs of what is still to come."""
ANY_DAY = date(2026, 1, 1)
_FIGURE = re.compile(r"\d")
BARE = 3
"""Words of an answer that only names a thing."""
ASKED_WITHIN = 3
"""So many messages back stands the question that a bare yes answers."""


@lru_cache(maxsize=16_384)
def tells_done(text: str) -> bool:
    """Whether a text tells that something was completed, and not that it came to nothing after all."""
    if has("undone", text) or any(map(_came_to_nothing, sentences(text))):
        return False
    return tells_completed(text) or any(
        _LINK_OR_NUMBER.search(one) and not has("promise", one) and not is_open(one) for one in _told(text)
    )


def tells_completed(text: str) -> bool:
    """Whether a clause that asks nothing tells something as completed, and does not put it off."""
    return any(map(_is_completed, _told(text)))


def _came_to_nothing(sentence: str) -> bool:
    """Whether a sentence goes on, behind a "but", by denying or refusing something, or ends in a bare denial."""
    rest = behind("but", sentence)
    said = polarity(rest)
    last = parts_of(sentence)[-1:]
    is_taken_back = len(parts_of(sentence)) > 1 and any(
        polarity(one).denies and not polarity(one).denied for one in last
    )
    return said.denies or said.refuses or has("lacking", rest) or is_taken_back


def _told(text: str) -> list[str]:
    """The clauses of the sentences that ask nothing."""
    return [part for one in sentences(text) if not is_question(one) for part in parts_of(one)]


def _is_completed(clause: str) -> bool:
    return has("completed", clause) and not is_open(clause)


def is_open(clause: str) -> bool:
    return has("not_done", clause) or has("unreal", clause) or has("promise", clause)


def says_done(
    messages: Sequence[SourceMessage], quote: str = "", talk: Sequence[SourceMessage] = (), matter: str = ""
) -> bool:
    """Whether messages hold evidence of completion: it is told, acknowledged, answered with yes, or the thing is there.

    The quoted words themselves may neither put it off nor give it up. ``talk``: where the messages stand. ``matter``:
    what was to be done; a plain word about it tells that it is there.
    """
    if any(message.attachments and _hands_over(message.text) for message in messages):
        return True
    if is_joke(messages, quote):
        return False
    quoted = [m for m in messages if quote and shares_text(quote, m.text)]
    is_to_end = has("cancel", matter) or polarity(matter).refuses
    if quoted and not is_to_end and any(gives_up(one) for one in touched(quoted, quote)):
        return False
    if quoted and all(map(is_open, parts_of(quote))):
        return False
    if not is_to_end and quoted and _is_open_about(quoted, quote, matter):
        return False
    named = content(blanked(quote, quoted[0].sent_at.date())) if quoted else frozenset[str]()
    if named & content(matter) and any(map(is_plain, touched(quoted, quote))):
        return True
    place = {message.number: at for at, message in enumerate(talk)}
    return any(
        tells_done(m.text) or acknowledges(m, talk[: place.get(m.number, 0)] or _before(m, messages)) for m in messages
    )


def _hands_over(text: str) -> bool:
    """Whether words beside a file do not say that it is a draft, a part or the wrong one."""
    return not (has("undone", text) or has("lacking", text) or any(map(is_open, parts_of(text))))


def _is_open_about(quoted: Sequence[SourceMessage], quote: str, matter: str) -> bool:
    """Whether what the quoted sentences say of the matter is open, denied, or only leads up to it."""
    wanted = content(matter)
    said = touched(quoted, quote)
    parts = [part for one in said if not is_question(one) for part in parts_of(one)]
    about = [part for part in parts if _names_same(part, matter)]
    if not about and any(is_question(one) and _names_same(one, matter) for one in said):
        return any(_names_other(part, wanted) for part in parts)
    if not about or (any(_is_completed(part) for part in parts[parts.index(about[-1]) + 1 :])):
        return False
    return all(is_open(part) or polarity(part).denies or only_prepares(part, wanted) for part in about)


def _names_same(part: str, matter: str) -> bool:
    """Whether a clause names a thing of the matter; in Chinese by two characters in a row."""
    wanted = content(matter)
    if any(one in wanted and names_thing(word) for word, one in tokens(part)):
        return True
    pairs = (part[at : at + 2] for at in range(len(part) - 1))
    return any(is_han(pair) and pair in matter for pair in pairs)


def _names_other(part: str, wanted: frozenset[str]) -> bool:
    """Whether a clause names a thing that is not wanted."""
    return any(one and one not in wanted and names_thing(word) and not tells(word) for word, one in tokens(part))


def names_thing(word: str) -> bool:
    """Whether a word may be of a thing, by no sign of a deed; a single Chinese character may be anything."""
    return not (has("completed", word) or has("promise", word)) and not (is_han(word) and len(word) == 1)


def only_prepares(part: str, wanted: frozenset[str]) -> bool:
    """Whether a clause tells of looking, asking or the like that was not itself to be done."""
    word = found("prepares", part)
    return word is not None and not content(word) & wanted


def is_plain(sentence: str) -> bool:
    """Whether a sentence neither asks, promises, weighs, denies nor waits for anything."""
    said = polarity(sentence)
    is_said = said.denies or said.refuses or said.waits
    return (
        not (is_said or is_question(sentence) or is_weighed(sentence) or is_open(sentence))
        and not any(has(sign, sentence) for sign in ("ask", "undone", "together", "later_time", "delayed"))
        and not _came_to_nothing(sentence)
    )


def touched(messages: Sequence[SourceMessage], quote: str) -> list[str]:
    """The sentences of messages that a quote touches, also of those that begin without a capital."""
    told = [one for m in messages for one in sentences(m.text) if shares_text(one, quote)]
    pieces = [piece for one in told for piece in STOP.split(one) if shares_text(piece, quote)]
    return pieces or told


def _of_others(messages: Sequence[SourceMessage], quoted: SourceMessage) -> list[SourceMessage]:
    """Those that another wrote than what is quoted."""
    return [m for m in messages if m.sender.entity_id != quoted.sender.entity_id]


def _before(message: SourceMessage, messages: Sequence[SourceMessage]) -> Sequence[SourceMessage]:
    return [one for one in messages if one.number < message.number]


def acknowledges(
    message: SourceMessage, before: Sequence[SourceMessage], *, is_of: Callable[[str], bool] = lambda _: True
) -> bool:
    """Whether a message says yes to "is it done?", or thanks for what was not merely promised.

    ``is_of``: whether the question, or what the thanks are for, is of the matter.
    """
    first = next(iter(parts_of(message.text)), "")
    asked = [m for m in before[-ASKED_WITHIN:] if m.sender.entity_id != message.sender.entity_id]
    if is_question(first) or is_open(first) or (has("later_time", first) and not has("completed", first)):
        return False
    if has("admits", message.text) and not tells_completed(message.text):
        return False
    if has("affirms", first) and any(_asks_if_done(m.text) and is_of(m.text) for m in asked):
        return True
    if not any(has("received", part) and not is_open(part) for part in _told(message.text)):
        return False
    if asked and not is_of(message.text) and not is_of(asked[-1].text):
        return False
    return not asked or not (is_open(asked[-1].text) or is_question(asked[-1].text))


def _asks_if_done(text: str) -> bool:
    asked = [one for one in sentences(text) if is_question(one) and not has("was_due", one)]
    return any(has("completed", one) or has("asks_if_done", one) for one in asked)


@cache
def acknowledging() -> frozenset[str]:
    """Meanings of words that acknowledge something without naming it."""
    words = " ".join(table(language, "polarity")["settles"]["acknowledges"] for language in folders("polarity"))
    return content(words)


def says_cancelled(messages: Sequence[SourceMessage], quote: str = "", matter: str = "") -> bool:
    """Whether messages give something up: by a word for it, or by denying of ``matter`` what was to be done.

    The quoted words themselves may not tell that it was done.
    """
    wanted = content(matter)
    is_moved = any(one.kind in EXACT for one in mentions(quote, ANY_DAY))
    if (tells_done(quote) or is_moved) and not has("cancel", quote):
        return False
    return any(gives_up(one, wanted) for message in messages for one in sentences(message.text))


def gives_up(sentence: str, wanted: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence gives something up, or denies what was ``wanted`` or something of it."""
    if is_question(sentence) or has("delayed", sentence):
        return False
    if has("cancel", sentence):
        return True
    said = polarity(sentence)
    if has("not_done", sentence) or has("undone", sentence):
        return False
    behind_it = next((one for _, one in tokens(after_denial(sentence)) if one and one not in modal()), "")
    if has("unable", sentence) and behind_it and behind_it not in wanted:
        return said.refuses
    is_denied = said.denied & wanted or (said.denies and not said.waits and content(sentence) & wanted)
    return said.refuses or bool(is_denied and not tells_done(sentence))


def may_renew(quote: str) -> bool:
    """Whether words may renew something: they neither give it up nor only tell that it was done, or they move it."""
    if gives_up(quote) and not has("moves", quote):
        return False
    if not any(has(sign, quote) for sign in FORWARD) and not polarity(quote).waits and not _names_when(quote):
        return False
    return not tells_done(quote) or any(map(is_open, parts_of(quote))) or has("ask", quote) or has("moves", quote)


def _names_when(text: str) -> bool:
    return _FIGURE.search(text) is not None or any(one.kind in EXACT for one in mentions(text, ANY_DAY))


def settles(
    messages: Sequence[SourceMessage], quoted: SourceMessage, quote: str, talk: Sequence[SourceMessage] = ()
) -> str | None:
    """Why messages settle nothing (a joke; asked, offered, wished or thought; refused). ``quoted`` has the quote."""
    if is_joke(messages, quote):
        return "rests on a joke"
    words = touched([quoted], quote) or [quoted.text]
    is_yes = _is_answer(quoted, messages) and agrees(quoted)
    answers = _of_others([m for m in messages if m.number > quoted.number], quoted)
    if all(map(is_weighed, words)) and not is_yes and not any(agrees_to(one, words) for one in answers):
        return "was only asked, offered or wished"
    following = [m for m in talk if m.number > messages[-1].number][:1]
    is_bare = not is_yes and not any(has("agrees", one) for one in words)
    others = [*answers, *_of_others(following, quoted)] if any(has("opinion", one) for one in words) else None
    if is_bare and others is not None and not any(agrees_to(one, words) for one in others):
        return "was only thought"
    is_bare &= quoted is messages[0]
    if any(refuses(one) or (is_bare and is_weighed_answer(one)) for one in _of_others(following, messages[-1])):
        return "was refused"
    if was_put_off(messages):
        return "was put off or refused"
    return None


def is_joke(messages: Sequence[SourceMessage], quote: str) -> bool:
    """Whether messages say that they joke, or laugh at the quoted words themselves and nobody agrees to them later.

    Laughter before the quoted words answers what was said before.
    """
    if any(has("joke", message.text) for message in messages):
        return True
    for message in messages:
        before, quoted, behind = comparable(message.text).partition(comparable(quote))
        if quoted and has("laughs", behind or quoted) and not has("laughs", before):
            return not any(one.number > message.number and agrees(one) for one in messages)
    return False


def shares_text(one: str, other: str) -> bool:
    """Whether one text stands in the other."""
    a, b = comparable(one), comparable(other)
    return a in b or b in a


def _is_answer(message: SourceMessage, messages: Sequence[SourceMessage]) -> bool:
    return any(m.number < message.number and m.sender.entity_id != message.sender.entity_id for m in messages)


def is_weighed(text: str) -> bool:
    return is_question(text) or has("condition", text) or _only_refuses(text)


def _only_refuses(text: str) -> bool:
    """Whether a text refuses and puts no figure, promise or person in place of what it refuses ("no, 1.5k")."""
    rest = [part for part in parts_of(text) if not has("refusal", part)]
    puts = (_FIGURE.search(part) or has("promise", part) or has("others_will", part) for part in rest)
    return has("refusal", text) and not any(puts)


def accepts(message: SourceMessage) -> bool:
    """Whether an answer says yes, promises, tells it as done, or names no more than when or what."""
    parts = [part for part in parts_of(message.text) if not is_question(part) and not has("condition", part)]
    if any(has("promise", part) or _is_completed(part) or _says_yes(part) for part in parts):
        return True
    if _LINK_OR_NUMBER.search(message.text):
        return True
    is_no = any(has("refusal", part) or polarity(part).denies for part in parts)
    size = word_count(message.text)
    return bool(parts) and not is_no and (size <= BARE or (size <= SHORT_ANSWER and _names_when(message.text)))


def _says_yes(part: str) -> bool:
    return has("agrees", part) and not has("refusal", part) and not polarity(part).denies


def was_put_off(messages: Sequence[SourceMessage]) -> bool:
    """Whether what one asked or wished got a condition, a second thought or a refusal for the other's last word."""
    first, last = messages[0], messages[-1]
    if first.sender.entity_id == last.sender.entity_id or not any(map(_proposes, messages[:-1])):
        return False
    return is_weighed_answer(last)


def is_weighed_answer(message: SourceMessage) -> bool:
    """Whether an answer neither accepts nor promises: only a condition, doubt, excuse or refusal."""
    is_hedged = has("condition", message.text) or _only_refuses(message.text)
    is_later = has("puts_off", message.text)
    return is_later or (is_hedged and not agrees(message) and not has("promise", message.text))


def _proposes(message: SourceMessage) -> bool:
    return any(is_question(one) or has("condition", one) for one in sentences(message.text))


def is_no_duty(quote: str, messages: Sequence[SourceMessage]) -> str | None:
    """Why quoted words bind nobody to anything (a joke, a wish, a doubt), or None."""
    if is_joke(messages, quote):
        return "rests on a joke"
    parts = parts_of(quote)
    is_bound = any(has("promise", part) or has("ask", part) for part in parts)
    hedged = [part for part in parts if has("condition", part) or has("refusal", part)]
    if hedged and not is_bound and all(part in hedged or has("offer", part) for part in parts):
        return "rests on a condition or wish"
    return None
