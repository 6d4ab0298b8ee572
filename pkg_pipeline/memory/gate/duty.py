"""Who is to do something, and what promises, agrees or refuses, by the signs in what was said (B18).

Only a clear contradiction counts: an owner is wrong if the messages say that somebody else promises or is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from pkg_pipeline.memory.gate.nearest import is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import after_denial, polarity, whole
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.records import SourceMessage
from pkg_pipeline.memory.text.normalise import word_count

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
    if sign in ("promise", "completed"):
        spared = _sign("no_promise" if sign == "promise" else "no_completion")
        return any(not spared.fullmatch(match.group()) for match in _sign(sign).finditer(spared.sub(" ", plain)))
    if sign in ("agrees", "affirms", "received") and re.search(r"[👍👌✅🤝🙏💯]|^\+{1,3}$|^\s*[+✔]", text):
        return True
    return _sign(sign).search(plain) is not None


def found(sign: str, text: str) -> str | None:
    """The words of a sign in a text."""
    match = _sign(sign).search(folded(text).replace("’", "'"))
    return None if match is None else match.group()


def behind(sign: str, text: str) -> str:
    """The words behind the first sign in a text; empty without one."""
    plain = folded(text).replace("’", "'")
    found = _sign(sign).search(plain)
    return plain[found.end() :] if found else ""


def refuses(message: SourceMessage) -> bool:
    """Whether a message begins with a refusal."""
    first = next(iter(parts_of(message.text)), "")
    if is_question(first) or not has("refusal", first):
        return False
    return not has("agrees", folded(first).replace(found("refusal", first) or "", " "))


def says_no(message: SourceMessage) -> bool:
    """Whether a message begins, after thanks, with a no to what was asked: a refusal or a denial."""
    first = next((part for part in parts_of(message.text) if not has("received", part)), "")
    is_denied = polarity(first).denies and not _says_yes(first) and not is_question(first)
    return refuses(message) or is_denied


def agrees(message: SourceMessage) -> bool:
    """Whether a message agrees to something: by its words, or by a short answer that neither asks nor refuses."""
    parts = parts_of(message.text)
    if parts and has("condition", parts[0]):
        return False
    if any(_says_yes(part) and not _is_doubtful(part) for part in parts):
        return True
    is_no = any(_is_doubtful(part) or polarity(part).denies for part in parts)
    return word_count(message.text) <= SHORT_ANSWER and not is_no


def agrees_to(message: SourceMessage, words: Sequence[str]) -> bool:
    """Whether a message agrees to what is told in ``words``, and does not leave that for later."""
    return agrees(message) and (not has("puts_off", message.text) or any(has("puts_off", one) for one in words))


def _says_yes(part: str) -> bool:
    """Whether a clause agrees, and not only behind a denial ("I do not approve")."""
    every, denied = (len(_sign("agrees").findall(folded(one))) for one in (part, after_denial(part)))
    return has("agrees", part) and (not denied or every > denied)


def _is_doubtful(part: str) -> bool:
    return is_question(part) or has("refusal", part) or has("condition", part)


def parts_of(text: str) -> list[str]:
    """The parts between marks, each with the mark that ends it."""
    return [part.strip() for part in _CLAUSE.findall(text) if part.strip()]
