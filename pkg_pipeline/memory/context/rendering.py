"""Renders each kind of context item as a line under its headings, in one language (P1–P4, P21)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

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
)
from pkg_pipeline.memory.records import ContextChat
from pkg_pipeline.memory.text.lines import ELLIPSIS, one_line
from pkg_pipeline.memory.text.marks import named, quoted
from pkg_pipeline.memory.text.phrases import Phrases, clock, source_name

Place = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One printable item. ``headings`` outermost first, each with a key and its text."""

    kind: ItemKind
    id: str
    text: str
    at: datetime
    message_ids: tuple[str, ...]
    place: Place
    headings: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...] = ()
    says: str = ""

    @property
    def key(self) -> str:
        """The statement of the line: lines with the same key are printed once."""
        return self.says or f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True)
class LineRenderer:
    """The lines of one context: its words, rules and person.

    Groups are always named beside the speaker; dialogs only where there are several services (``names_dialogs``).
    """

    rules: BlockRules
    entity: ContextEntity
    names_dialogs: bool
    words: Phrases

    def local(self, at: datetime) -> datetime:
        return at.astimezone(self.rules.zone)

    def day(self, value: date) -> str:
        return self.words.day(value)

    def bracket(self, *parts: str) -> str:
        given = [part for part in parts if part]
        return self.words.bracket.format(text=self.words.comma.join(given)) if given else ""

    def head(self) -> list[str]:
        """The block's first two lines: who it is, and the relationship in figures."""
        entity, words, moment = self.entity, self.words, self.local(self.rules.as_of)
        parts = [words.as_of.format(date=self.day(moment.date()), time=clock(moment))]
        if entity.organization:
            parts.append(words.organization.format(name=one_line(entity.organization)))
        if entity.sources:
            names = words.comma.join(dict.fromkeys(source_name(source) for source in entity.sources))
            parts.append(words.via.format(sources=names))
        if entity.messages:
            count = self.words.number(entity.messages)
            since = self.day(self.local(entity.first_contact).date()) if entity.first_contact else None
            parts.append(
                words.messages_since.format(count=count, date=since)
                if since
                else words.messages_only.format(count=count)
            )
        if entity.last_contact:
            last = self.local(entity.last_contact).date()
            ago = words.ago(last, moment.date())
            parts.append(words.last_contact.format(date=self.day(last), ago=ago))
        else:
            parts.append(words.no_contact)
        return [f"# {named(entity.name) or words.unknown}\n", f"- {' · '.join(parts)}\n"]

    def hot(self, message: HeardMessage, *, order: int) -> Line | None:
        sent = self.local(message.sent_at)
        title = self.words.hot.format(days=f"{self.rules.hot_days:g}")
        headings = (
            ("hot", f"## {title}\n"),
            (f"hot {sent.date()}", f"### {self.words.weekday(sent.date())}\n"),
        )
        is_named = message.chat.kind != "direct" or self.names_dialogs
        chat = self.chat(message.chat) if is_named else ""
        return self._message(message, when=clock(sent), chat=chat, place=(order,), headings=headings)

    def excerpt(self, message: HeardMessage, within: Unsummarised, *, place: Place) -> Line | None:
        """A message printed instead of a summary that does not exist yet (P33)."""
        sent = self.local(message.sent_at)
        same_day = sent.date() == self.local(within.started_at).date()
        when = clock(sent) if same_day else f"{self.day(sent.date())} {clock(sent)}"
        headings = self._conversation(
            within.started_at, within.chat, str(within.interaction_id), self.words.unsummarised
        )
        return self._message(message, when=when, chat="", place=place, headings=headings, marks=("unsummarised",))

    def _message(
        self,
        message: HeardMessage,
        *,
        when: str,
        chat: str,
        place: Place,
        headings: tuple[tuple[str, str], ...],
        marks: tuple[Mark, ...] = (),
    ) -> Line | None:
        text = one_line(message.text)
        if not text:
            return None
        if message.is_cut:
            text = text + ELLIPSIS
            marks = with_mark(marks, "shortened")
        speaker = self.words.me if message.is_self else named(message.speaker or "") or self.words.unknown
        line = f"{when} {speaker}{self.bracket(chat)}{self.words.colon}{text}"
        return Line("message", message.id, line, message.sent_at, (message.id,), place, headings, marks)

    def chat(self, chat: ContextChat) -> str:
        """A group's title, or a dialog's service name."""
        title = named(chat.title or "")
        return title if title and chat.kind != "direct" else source_name(chat.source)

    def summary(self, summary: PastSummary, *, place: Place) -> Line | None:
        """The summary of one conversation (P2), marked where it is stale."""
        text = quoted(one_line(summary.text))
        if not text:
            return None
        marks: tuple[Mark, ...] = ("stale",) if summary.is_stale else ()
        return Line(
            "summary", str(summary.id), text, summary.ended_at, summary.message_ids, place, self.within(summary), marks
        )

    def within(self, summary: PastSummary) -> tuple[tuple[str, str], ...]:
        """The headings of a summarised conversation, for its summary and items."""
        note = self.words.stale if summary.is_stale else ""
        return self._conversation(summary.started_at, summary.chat, str(summary.interaction_id), note)

    def _conversation(
        self, started_at: datetime, chat: ContextChat, key: str, note: str
    ) -> tuple[tuple[str, str], ...]:
        started = self.local(started_at)
        when = f"{self.day(started.date())}{self.words.comma}{clock(started)}"
        title = f"### {when} · {self.chat(chat)}{self.bracket(note)}\n"
        return (("warm", f"## {self.words.warm}\n"), (f"warm {key}", title))

    def fact(self, fact: KnownFact, *, order: int) -> Line:
        name = named(self.words.fact_name(fact.fact_type))
        text = f"{name}{self.words.colon}{one_line(fact.value)}"
        headings = (("permanent", f"## {self.words.permanent}\n"),)
        # equal facts learnt twice share a key; the newest comes first
        says = f"fact:{text}".casefold()
        return Line("fact", str(fact.id), text, fact.at, fact.message_ids, (order,), headings, says=says)

    def decision(self, item: KnownItem, *, place: Place, headings: tuple[tuple[str, str], ...]) -> Line:
        decided = self.day(item.decided_on or self.local(item.at).date())
        text = f"{self.words.decided}{self.bracket(decided)}{self.words.colon}{one_line(item.description)}"
        return Line("decision", str(item.id), text, item.at, item.message_ids, place, headings)

    def action(self, item: KnownItem, *, place: Place, headings: tuple[tuple[str, str], ...]) -> Line:
        """An open action item: owner, due date, whether overdue (P3)."""
        late = is_overdue(item, self.rules.today)
        due = ""
        if item.due_date:
            due = (self.words.overdue if late else self.words.due).format(date=self.day(item.due_date))
        who = self.words.owner(item.owner, name=named(item.owner_name or self.entity.name))
        text = f"{self.words.to_do}{self.bracket(who, due)}{self.words.colon}{one_line(item.description)}"
        marks: tuple[Mark, ...] = ("overdue",) if late else ()
        return Line("action_item", str(item.id), text, item.at, item.message_ids, place, headings, marks)

    def profile(self, profile: KnownProfile, *, place: Place) -> Line | None:
        """Relationship type, frequency and summary (P3); marked where stale."""
        summary = one_line(profile.summary)
        if not summary:
            return None
        kind = self.words.relationship_type(profile.relationship_type)
        often = self.words.frequency(profile.frequency)
        text = f"{kind[0].upper()}{kind[1:]}{self.words.comma}{often}{self.words.colon}{summary}"
        marks: tuple[Mark, ...] = ("stale",) if profile.is_stale else ()
        headings = self.relationship(profile)
        return Line("profile", str(profile.id), text, profile.as_of, profile.message_ids, place, headings, marks)

    def milestone(self, one: KnownMilestone, profile: KnownProfile, *, place: Place) -> Line | None:
        title = one_line(one.title)
        if not title:
            return None
        text = f"{self.day(one.day)}{self.words.colon}{title}"
        marks: tuple[Mark, ...] = ("stale",) if profile.is_stale else ()
        at = datetime.combine(one.day, time(), self.rules.zone).astimezone(UTC)
        headings = self.relationship(profile)
        return Line("milestone", one.id, text, at, one.message_ids, place, headings, marks)

    def relationship(self, profile: KnownProfile) -> tuple[tuple[str, str], ...]:
        """The heading of a profile: its date, and whether it is being renewed."""
        last = self.local(profile.as_of - timedelta(microseconds=1)).date()
        title = self.words.relationship.format(date=self.day(last))
        note = self.bracket(self.words.stale) if profile.is_stale else ""
        return (("relationship", f"## {title}{note}\n"),)

    def under(self, section: str, title: str) -> tuple[tuple[str, str], ...]:
        return ((section, f"## {title}\n"),)


def with_mark(marks: tuple[Mark, ...], mark: Mark) -> tuple[Mark, ...]:
    return marks if mark in marks else (*marks, mark)


def is_overdue(item: KnownItem, today: date) -> bool:
    """Due before today, in the reader's time zone."""
    return item.due_date is not None and item.due_date < today
