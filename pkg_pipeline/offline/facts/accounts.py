"""Bank accounts, cards and what else is paid to, known by their shape and the words beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.offline.facts.found import FactKind
from pkg_pipeline.offline.facts.words import any_cue

_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_SORTED: Final = re.compile(
    r"(?<![\d-])(?P<sort>\d{2}-\d{2}-\d{2}),? (?:(?:then|and|account|acc|acct|a/c)\W{0,2}){0,2}"
    r"(?P<number>\d{4} ?\d{4})(?!\d)"
    r"|(?<![\d-])(?P<branch>\d{3}-\d{3}) (?P<kept>\d{6,9})(?![\d-])",
    re.IGNORECASE,
)
"""A sort code with its account."""
ASKED: Final = re.compile(r"(?<![\d+])\d(?:[ -]?\d){7,21}(?!\d)")
"""Digits that answer a question for an account."""
_LONG: Final = re.compile(r"(?<![\d+])\d(?:[ -]?\d){11,19}(?!\d)")
_ACCOUNT: Final = re.compile(r"(?<![\d+-])\d{2}-\d{2}-\d{2}\b|(?<![\d+.,-])\d(?:[ -]?\d){6,15}(?!\d)")
_KEPT: Final = r"\d(?:[ -]{0,2}\d){7,21}(?!\d)"
"""Digits behind the name of a bank."""
NEAR: Final = 40
"""Characters before a number in which its word stands."""
CARD_DIGITS: Final = range(16, 20)
ACCOUNT_DIGITS: Final = 20
CHECKED_IBAN: Final = 97


@dataclass(frozen=True, slots=True)
class Contact:
    """A value in a text from ``start`` to ``end``; ``is_marked``: a word beside it says what it is; ``is_shared``: a
    phone of many, such as a hotline.
    """

    kind: FactKind
    value: str
    start: int
    end: int
    is_marked: bool = False
    is_shared: bool = False


def accounts_in(text: str) -> Iterator[Contact]:
    for m in _SORTED.finditer(text):
        parts = (m["sort"] or m["branch"], m["number"] or m["kept"])
        yield Contact("account", " ".join(parts), *m.span(), is_marked=True)
    for m in re.finditer(rf"(?:{any_cue('bank_before').pattern})\W{{0,3}}(?P<value>{_KEPT})", text, re.IGNORECASE):
        yield Contact("account", re.sub(r"[^\d-]", "", m["value"]), *m.span("value"), is_marked=True)
    for m in any_cue("account_tail").finditer(text):
        yield Contact("account", m.group(), *m.span(), is_marked=True)
    for m in _IBAN.finditer(text):
        plain = m.group().replace(" ", "")
        if _is_iban(plain) or any_cue("cue_bank").search(text[: m.start()]):
            yield Contact("account", plain, *m.span(), is_marked=True)
    for m in _LONG.finditer(text):
        plain = re.sub(r"\D", "", m.group())
        before = text[max(0, m.start() - NEAR) : m.start()]
        is_card = len(plain) in CARD_DIGITS and bool(any_cue("cue_card").search(before))
        if is_card or (len(plain) == ACCOUNT_DIGITS and any_cue("cue_bank").search(text)):
            yield Contact("account", plain, *m.span(), is_marked=True)
        elif len(plain) in CARD_DIGITS and (_is_luhn(plain) or any_cue("cue_bank").search(text)):
            yield Contact("account", plain, *m.span(), is_marked=bool(any_cue("cue_bank").search(text)))
    for m in _ACCOUNT.finditer(text):
        before = text[max(0, m.start() - NEAR) : m.start()]
        if any_cue("account_before").search(before):
            yield Contact("account", m.group(), *m.span(), is_marked=True)
    for m in re.finditer(
        rf"(?:{any_cue('money_by').pattern})\W{{0,3}}(?:is |me at |id )?"
        r"(?P<value>@[\w.-]{3,30}|1\d{10}|(?=[\w.-]*\d)[A-Za-z][\w.-]{4,30}(?!\w|@))",
        text,
        re.IGNORECASE,
    ):
        yield Contact("account", m["value"], *m.span("value"), is_marked=True)


def _is_iban(plain: str) -> bool:
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % CHECKED_IBAN == 1


def _is_luhn(plain: str) -> bool:
    doubled = [int(one) * (1 + place % 2) for place, one in enumerate(reversed(plain))]
    return sum(one - 9 * (one > 9) for one in doubled) % 10 == 0
