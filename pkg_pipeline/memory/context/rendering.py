"""Renders each kind of context item as a line under its headings, in one language (P1–P4, P21)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, get_args

from pkg_pipeline.memory.context.card import place_of
from pkg_pipeline.memory.context.records import (
    BlockRules,
    ContextEntity,
    HeardMessage,
    ItemKind,
    KnownFact,
    KnownItem,
    KnownMilestone,
    KnownProfile,
    Mark,
    PastSummary,
    Unsummarised,
    WholeTalk,
)
from pkg_pipeline.memory.records import ContextChat
from pkg_pipeline.memory.text.lines import ELLIPSIS, one_line
from pkg_pipeline.memory.text.marks import named, quoted
from pkg_pipeline.memory.text.phrases import Phrases, clock, is_conversations_only, source_name

Place = tuple[float, ...]
Headings = tuple[tuple[str, str], ...]
Talk = PastSummary | Unsummarised | WholeTalk

Section = Literal["card", "relationship", "permanent", "open", "hot", "warm", "decisions", "lapsed", "relevant"]

SECTIONS: tuple[Section, ...] = get_args(Section)
"""The order in which they are printed."""

MOST_QUOTED_CHARS = 120

LEAP_YEAR = 2024
"""For days without a year, the 29th of February among them."""


UNSURE: frozenset[Mark] = frozenset({"perhaps", "perhaps_done", "doubted", "lapsed"})


@dataclass(frozen=True, slots=True)
class Line:
    """One printable item. ``headings`` outermost first, each with a key and its text; ``place`` within its section."""

    section: Section
    kind: ItemKind
    id: str
    text: str
    at: datetime
    message_ids: tuple[str, ...]
    place: Place
    headings: Headings
    marks: tuple[Mark, ...] = ()
    says: str = ""

    @property
    def key(self) -> str:
        """The statement of the line: lines with the same key are printed once."""
        return self.says or f"{self.kind}:{self.id}"

    @property
    def is_to_do(self) -> bool:
        """An open task of which nobody doubts."""
        return self.kind == "action_item" and UNSURE.isdisjoint(self.marks)


@dataclass(frozen=True, slots=True)
class LineRenderer:
    """The lines of one context: its words, rules and person.

    Groups are always named beside the speaker; dialogs only where there are several services (``names_dialogs``).
    """

    rules: BlockRules
    entity: ContextEntity
    names_dialogs: bool
    words: Phrases
    _titles: dict[Hashable, Headings] = field(default_factory=dict[Hashable, Headings], compare=False)
    """Headings made so far: many lines stand under one."""

    def local(self, at: datetime) -> datetime:
        return at.astimezone(self.rules.zone)

    def day(self, value: date) -> str:
        return self.words.day(value)

    def bracket(self, *parts: str) -> str:
        given = [part for part in parts if part]
        return self.words.bracket.format(text=self.words.comma.join(given)) if given else ""

    def hot(self, message: HeardMessage, *, order: int) -> Line | None:
        sent = self.local(message.sent_at)
        title = self.words.hot.format(days=f"{self.rules.hot_days:g}")
        headings = (
            ("hot", f"## {title}\n"),
            (f"hot {sent.date()}", f"### {self.words.weekday(sent.date())}\n"),
        )
        is_named = message.chat.kind != "direct" or self.names_dialogs
        chat = self.chat(message.chat) if is_named else ""
        return self._message(message, "hot", when=clock(sent), chat=chat, place=(order,), headings=headings)

    def excerpt(self, message: HeardMessage, within: Unsummarised, *, place: Place) -> Line | None:
        """A message printed instead of a summary that does not exist yet (P33)."""
        return self._of_talk(message, within, place, self.within(within), ("unsummarised",))

    def whole(self, talk: WholeTalk) -> list[Line]:
        """A conversation in its own words."""
        headings = self.within(talk)
        found = [
            self._of_talk(message, talk, (*talk_place(talk), 0, number), headings)
            for number, message in enumerate(talk.messages)
        ]
        return [line for line in found if line is not None]

    def _of_talk(
        self,
        message: HeardMessage,
        talk: Talk,
        place: Place,
        headings: Headings,
        marks: tuple[Mark, ...] = (),
    ) -> Line | None:
        sent = self.local(message.sent_at)
        same_day = sent.date() == self.local(talk.started_at).date()
        when = clock(sent) if same_day else f"{self.day(sent.date())} {clock(sent)}"
        return self._message(message, "warm", when=when, chat="", place=place, headings=headings, marks=marks)

    def _message(
        self,
        message: HeardMessage,
        section: Section,
        *,
        when: str,
        chat: str,
        place: Place,
        headings: Headings,
        marks: tuple[Mark, ...] = (),
    ) -> Line | None:
        text = one_line(message.text)
        if not text:
            return None
        if message.is_cut:
            text = text + ELLIPSIS
            marks = with_mark(marks, "shortened")
        speaker = self.words.me if message.is_self else named(message.speaker or "") or self.words.unknown
        where = self.bracket(chat) if chat else ""
        line = f"{when} {speaker}{where}{self.words.colon}{text}"
        return Line(section, "message", message.id, line, message.sent_at, (message.id,), place, headings, marks)

    def chat(self, chat: ContextChat) -> str:
        """A group's title, or a dialog's service name."""
        title = named(chat.title or "")
        return title if title and chat.kind != "direct" else source_name(chat.source)

    def summary(self, summary: PastSummary, *, place: Place) -> Line | None:
        """The summary of one conversation (P2), marked where it is stale."""
        text = quoted(one_line(summary.text))
        if not text:
            return None
        place_and_marks = (place, self.within(summary), _stale(summary))
        return Line("warm", "summary", str(summary.id), text, summary.ended_at, summary.message_ids, *place_and_marks)

    def within(self, talk: Talk) -> Headings:
        """The headings of a conversation, for what is told of it."""
        key = (type(talk), talk.interaction_id)
        return self._titles.get(key) or self._titles.setdefault(key, self._of_conversation(talk))

    def _of_conversation(self, talk: Talk) -> Headings:
        note = self.words.unsummarised if isinstance(talk, Unsummarised) else ""
        if isinstance(talk, PastSummary) and talk.is_stale:
            note = self.words.stale
        started = self.local(talk.started_at)
        when = f"{self.day(started.date())}{self.words.comma}{clock(started)}"
        title = f"### {when} · {self.chat(talk.chat)}{self.bracket(note)}\n"
        return (
            ("warm", f"## {self.words.warm}\n"),
            (f"{'whole' if isinstance(talk, WholeTalk) else 'told'} {talk.interaction_id}", title),
        )

    def fact(self, fact: KnownFact, *, order: int) -> Line:
        name = named(self.words.fact_name(fact.fact_type))
        value = one_line(fact.value)
        value = self._birthday(value) if fact.fact_type.casefold().endswith("birthday") else value
        whose = self.bracket(one_line(fact.about or ""), self._edited(fact))
        text = f"{name}{whose}{self.words.colon}{value}"
        on_card = place_of(fact)
        section: Section = "permanent" if on_card is None else "card"
        headings = self.under("permanent", self.words.permanent) if on_card is None else ()
        place = (on_card or 0, order)
        # equal facts learnt twice share a key; the newest comes first
        says = f"fact:{text}".casefold()
        marks = _stale(fact)
        return Line(section, "fact", str(fact.id), text, fact.at, fact.message_ids, place, headings, marks, says=says)

    def _birthday(self, value: str) -> str:
        """``1980-08-15`` or ``08-15`` as a day in words; else as it is."""
        has_year = value.count("-") > 1
        try:
            found = date.fromisoformat(value if has_year else f"{LEAP_YEAR}-{value}")
        except ValueError:
            return value
        return self.day(found) if has_year else self.words.day_of_year(found.month, found.day)

    def decision(self, item: KnownItem, *, section: Section, place: Place, headings: Headings) -> Line:
        """A decision in force; in brackets the one before it on the same matter (B17)."""
        decided = self.day(self.local(item.first_at).date())
        former = ""
        if item.former is not None:
            made = self.day(self.local(item.former.at).date())
            former = self.bracket(self.words.former.format(text=one_line(item.former.text).rstrip(" .。"), date=made))
        marks: tuple[Mark, ...] = (*(() if item.is_sure else ("perhaps",)), *_stale(item))
        note = "" if item.is_sure else self.words.perhaps
        when = self.bracket(decided, note, self._edited(item))
        text = f"{self.words.decided}{when}{self.words.colon}{one_line(item.text)}{former}"
        return Line(section, "decision", str(item.id), text, item.first_at, item.message_ids, place, headings, marks)

    def action(self, item: KnownItem, *, order: int) -> Line:
        """An action item that is not settled (P3, B16): who owes it, since when, until when; overdue only if surely
        open.
        """
        words, today = self.words, self.rules.today
        marks: tuple[Mark, ...] = ()
        title, due, said, note = words.to_do, words.due, "", ""
        section: Section = "open"
        if item.status == "perhaps_done":
            marks = ("perhaps_done",)
            title, said = words.perhaps_done, self.bracket(self._quoted(item))
        elif item.status == "lapsed":
            marks = ("lapsed",)
            due, section = words.was_due, "lapsed"
        elif item.is_doubted or not item.is_sure:
            marks = ("doubted",) if item.is_doubted else ("perhaps",)
            note = words.doubted if item.is_doubted else words.perhaps
            due = words.was_due if item.due_date and item.due_date < today else due
        elif item.due_date is not None and item.due_date < today:
            marks = ("overdue",)
            due = words.overdue
        until = due.format(date=self.day(item.due_date)) if item.due_date else ""
        since = words.since.format(date=self.day(self.local(item.first_at).date()))
        whose = self.bracket(self._owner(item), since, until, note, self._edited(item))
        text = f"{title}{whose}{words.colon}{one_line(item.text)}{said}"
        headings = self.under(section, words.open_items if section == "open" else words.lapsed)
        place = (item.is_doubted + 2.0 * (item.status == "perhaps_done") + 0.5 * ("perhaps" in marks), order)
        marks = (*marks, *_stale(item))
        return Line(section, "action_item", str(item.id), text, item.at, item.message_ids, place, headings, marks)

    def _edited(self, one: KnownItem | KnownFact) -> str:
        return self.words.edited if one.is_stale else ""

    def _owner(self, item: KnownItem) -> str:
        default = self.words.unknown if item.owner == "other" else self.entity.name
        return self.words.owner(item.owner, name=named(item.owner_name or default))

    def _quoted(self, item: KnownItem) -> str:
        """The words that suggest the present state, and their day."""
        quote = quoted(one_line(item.quote))
        if len(quote) > MOST_QUOTED_CHARS:
            quote = quote[: MOST_QUOTED_CHARS - 1].rstrip() + ELLIPSIS
        said = self.day(self.local(item.at).date())
        return self.words.said.format(date=said, quote=quote) if quote else said

    def profile(self, profile: KnownProfile) -> Line | None:
        """What the relationship is about (P3), unless it only counts what the card tells; marked where stale."""
        text = one_line(profile.summary)
        if not text or is_conversations_only(text):
            return None
        where = ((0,), self.relationship(profile), _stale(profile))
        return Line("relationship", "profile", str(profile.id), text, profile.as_of, profile.message_ids, *where)

    def milestone(self, one: KnownMilestone, profile: KnownProfile) -> Line | None:
        title = one_line(one.title)
        if not title:
            return None
        text = f"{self.day(one.day)}{self.words.colon}{title}"
        at = datetime.combine(one.day, time(), self.rules.zone).astimezone(UTC)
        where = ((1, one.day.toordinal()), self.relationship(profile), _stale(profile))
        return Line("relationship", "milestone", one.id, text, at, one.message_ids, *where)

    def relationship(self, profile: KnownProfile) -> Headings:
        """The heading of a profile: its date, and whether it is being renewed."""
        last = self.local(profile.as_of - timedelta(microseconds=1)).date()
        title = self.words.relationship.format(date=self.day(last))
        note = self.bracket(self.words.stale) if profile.is_stale else ""
        return (("relationship", f"## {title}{note}\n"),)

    def under(self, section: str, title: str) -> Headings:
        return ((section, f"## {title}\n"),)


def _stale(one: KnownItem | KnownFact | PastSummary | KnownProfile) -> tuple[Mark, ...]:
    return ("stale",) if one.is_stale else ()


def talk_place(talk: Talk) -> Place:
    return (-talk.ended_at.timestamp(), talk.interaction_id.int)


def with_mark(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    return marks if mark in marks else (*marks, mark)
