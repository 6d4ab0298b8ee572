"""Who is to do something, and what settles, refuses or closes it, by the signs in what was said (B18).

Only a clear contradiction counts: an owner is wrong if the messages say that somebody else promises or is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity, whole
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count

_LINK_OR_NUMBER = re.compile(r"https?://|\w@\w|\d{5,}|\d{3}[- ]\d{2}|\+\d")
_CLAUSE = re.compile(r"[^,;.!?，。；！？\n]+[,;.!?，。；！？\n]*")
SHORT_ANSWER = 6
"""Words of an answer that agrees without saying so ("65k it is")."""


@cache
def _sign(name: str) -> re.Pattern[str]:
    return re.compile("|".join(whole(table(language, "polarity")["settles"][name]) for language in folders("polarity")))


@lru_cache(maxsize=16_384)
def has(sign: str, text: str) -> bool:
    """Whether a text has a sign of ``[settles]``: promise, ask, together, agrees, refusal, done, cancel …"""
    plain = folded(text).replace("’", "'")
    if sign == "promise":
        spared = _sign("no_promise")
        return any(not spared.fullmatch(match.group()) for match in _sign(sign).finditer(spared.sub(" ", plain)))
    if sign in ("agrees", "done") and re.search(r"[👍👌✅🤝🙏💯]|^\+{1,3}$|^\s*[+✔]", text):
        return True
    return _sign(sign).search(plain) is not None


def _sentence(text: str, quote: str) -> str:
    """The sentences of a message that a quote touches."""
    wanted = comparable(quote)
    touched = [one for one in sentences(text) if comparable(one) in wanted or wanted in comparable(one)]
    return " ".join(touched) or text


def refuses(message: SourceMessage) -> bool:
    """Whether a message begins with a refusal."""
    first = next(iter(_clauses(message.text)), "")
    return has("refusal", first) and not has("agrees", first) and not is_question(first)


def says_done(messages: Sequence[SourceMessage], quote: str = "") -> bool:
    """Whether messages hold evidence of completion: it is said, acknowledged, or the thing itself is there.

    The quoted sentence itself may not put it off.
    """
    quoted = [_sentence(m.text, quote) for m in messages if quote and comparable(quote) in comparable(m.text)]
    if quoted and all(has("not_done", one) for one in quoted) and not any(m.attachments for m in messages):
        return False
    return any(map(_is_done, messages))


def _is_done(message: SourceMessage) -> bool:
    if message.attachments:
        return True
    text = message.text
    parts = [part for part in sentences(text) if not is_question(part)]
    for part in parts:
        pure = has("promise", part) or has("not_done", part)
        if has("done", part) and not pure:
            return True
        if _LINK_OR_NUMBER.search(part) and not pure:
            return True
    return False


@cache
def acknowledging() -> frozenset[str]:
    """Meanings of words that acknowledge something without naming it."""
    words = " ".join(table(language, "polarity")["settles"]["acknowledges"] for language in folders("polarity"))
    return content(words)


def says_cancelled(messages: Sequence[SourceMessage]) -> bool:
    parts = [part for message in messages for part in sentences(message.text) if not is_question(part)]
    return any(has("cancel", part) or (polarity(part).refuses and not has("not_done", part)) for part in parts)


def settles(messages: Sequence[SourceMessage]) -> str | None:
    """Why messages settle nothing (only questions, offers, conditions or a refusal), or None."""
    texts = [part for message in messages for part in sentences(message.text)]
    if not texts:
        return "rests on no words"
    if all(map(is_question, texts)):
        return "rests on a question"
    agreed = any(has("agrees", text) and not is_question(text) and not has("refusal", text) for text in texts)
    if agreed:
        return None
    if any(has("joke", text) for text in texts):
        return "rests on a joke"
    if all(has("condition", text) or is_question(text) for text in texts):
        return "rests on a condition or wish"
    if all(has("refusal", text) or is_question(text) for text in texts) and any(map(is_question, texts)):
        return "rests on a refusal"
    return None


def was_put_off(messages: Sequence[SourceMessage]) -> bool:
    """Whether what was asked got only a condition or a second thought for an answer."""
    first, last = messages[0], messages[-1]
    if first.sender.entity_id == last.sender.entity_id or not any(is_question(m.text) for m in messages[:-1]):
        return False
    return has("condition", last.text) and not has("promise", last.text) and not agrees(last)


def agrees(message: SourceMessage) -> bool:
    """Whether a message agrees to something: by its words, or by a short answer that neither asks nor refuses."""
    parts = _clauses(message.text)
    if any(has("agrees", part) and not is_question(part) and not has("refusal", part) for part in parts):
        return True
    is_short = word_count(message.text) <= SHORT_ANSWER
    return is_short and not any(is_question(part) or has("refusal", part) or has("condition", part) for part in parts)


def _clauses(text: str) -> list[str]:
    """The parts between marks, each with the mark that ends it."""
    return [part.strip() for part in _CLAUSE.findall(text) if part.strip()]
