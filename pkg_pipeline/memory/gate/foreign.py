"""Content that an answer brings in and its conversation lacks: links, accounts, keys, markup (B9).

Reasons quote nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import stems

_TLD = (
    "com|net|org|info|biz|io|ai|app|dev|co|me|ru|su|by|ua|kz|cn|de|uk|fr|es|it|pl|eu|us|tv|cc|xyz|top|site|online|shop"
    "|club|link|click|example|test|invalid|local|onion|рф"
)
_LINK = re.compile(
    r"\b(?:h(?:tt|xx)ps?|ftp|file|data|javascript|mailto|tel|tg|ipfs)\s?:\s?/{0,2}[^\s<>\"'«»]+"
    r"|\bwww\.[^\s<>\"'«»]+"
    rf"|(?<![\w@.-])(?:[\w-]+\.)+(?:{_TLD})\b(?:[/:?#][^\s<>\"'«»]*)?"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b(?:[:/]\S*)?",
    re.IGNORECASE,
)
_EMAIL = re.compile(rf"(?:(?![{HAN}])[\w.+-])*@[\w-]+(?:\.[\w-]+)+")  # Chinese words stand right before it
_HANDLE = re.compile(r"(?<!\w)@[A-Za-z]\w{2,}")
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|!?\[[^\]]*\]\([^)]*\)|```")
FENCE_SHAPE = re.compile(
    r"<<<|>>>|\"(?:n|speaker|important|is_me|talk|me)\"\s*:|^\s*\[\"[ad]\d+\","
    r"|^\s*\d+ [A-Z]{1,2}(?: \d\d:\d\d)?!?(?: \[.*\])?: |^\s*#(?: \d+)? \S+ \d{4}-\d\d-\d\d\b",
    re.MULTILINE,
)
"""The form of the prompt's own lines: an answer that repeats them is an echo."""

_CREDENTIAL = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAIza[\w-]{30,}|\bglpat-[\w-]{16,}"
    r"|(?i:\b(?:password|passwd|пароль|密码|口令|api[ _-]?key|secret|token|bearer|seed phrase|cvv|pin(?:[ -]?code)?"
    r"|пин-?код)\b\s*(?:[:=—-]|is|это|是)\s*\S+)"
)
_CREDENTIAL_TYPE = re.compile(
    r"passw|парол|密码|口令|api.?key|secret|секрет|token|токен|\bpin\b|пин|cvv|seed|private.?key|credential|otp|2fa"
    r"|код подтв|verification",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Known:
    """The content of a conversation, computed once. ``text`` is case-folded without spaces."""

    text: str
    stems: frozenset[str]


def known(source: SummaryInput) -> Known:
    """What may occur in an answer about ``source``: texts and participants' names."""
    names = [person.name for person in source.participants]
    names += [person.organization for person in source.participants if person.organization]
    texts = [*(_compat(message.text) for message in source.messages), *(_compat(name) for name in names)]
    return Known(
        text="\n".join(_squeezed(text) for text in texts),
        stems=known_stems(source.messages) | stems(" ".join(names)),
    )


def known_stems(messages: Iterable[SourceMessage]) -> frozenset[str]:
    return stems("\n".join(message.text for message in messages))


def foreign(text: str, held: Known) -> str | None:
    """Why ``text`` may not be published, by the kind of the first foreign content, or None."""
    shown = _compat(text)
    if FENCE_SHAPE.search(text):
        return "repeats the form of the prompt"
    for pattern, what in ((_CREDENTIAL, "a key or password"), (_EMAIL, "an e-mail address"), (_HANDLE, "an account")):
        if any(_squeezed(match) not in held.text for match in _matches(pattern, shown)):
            return f"holds {what} that the conversation does not"
    if any(_bare_link(match) not in held.text for match in _matches(_LINK, shown)):
        return "holds a link that the conversation does not"
    if any(_squeezed(match) not in held.text for match in _matches(_MARKUP, shown)):
        return "holds markup that the conversation does not"
    return None


def without_addresses(text: str) -> str:
    """``text`` without e-mail addresses and links, which are of no language."""
    return _LINK.sub(" ", _EMAIL.sub(" ", text))


def is_credential(fact_type: str, value: str) -> bool:
    """Whether a fact is a password, key or code; such facts are never kept."""
    return _CREDENTIAL.search(value) is not None or _CREDENTIAL_TYPE.search(fact_type) is not None


def digits(text: str) -> str:
    """All digits of ``text``, in order, in their plain form."""
    return "".join(re.findall(r"\d", _compat(text)))


def _compat(text: str) -> str:
    """Compatibility forms (NFKC), no invisible characters, all digits as 0-9."""
    if text.isascii():
        return text
    shown: list[str] = []
    for character in unicodedata.normalize("NFKC", text):
        if unicodedata.category(character) != "Cf":
            value = unicodedata.decimal(character, None)
            shown.append(character if value is None else str(value))
    return "".join(shown)


def _squeezed(text: str) -> str:
    return "".join(text.casefold().split())


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match.group().rstrip(".,;:!?)»”\"'") for match in pattern.finditer(text)]


def _bare_link(link: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", _squeezed(link)).rstrip("/")
