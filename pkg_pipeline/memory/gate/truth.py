"""Whether a text is true to the messages that it rests on: numbers, days, names, labels, polarity, words (B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cached_property
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pkg_pipeline.memory.gate.agents import Scene
from pkg_pipeline.memory.gate.binding import misbound, only_asked, outdated, overtaken, unsure
from pkg_pipeline.memory.gate.calendar import EXACT, SaidDays, blanked, follows_due, mentions, said_days, unsaid_day
from pkg_pipeline.memory.gate.claims import claim_of, denies, is_borne_out
from pkg_pipeline.memory.gate.duty import found, has, parts_of, says_no
from pkg_pipeline.memory.gate.labels import other_label, unsaid_label
from pkg_pipeline.memory.gate.naming import names_in, others_named
from pkg_pipeline.memory.gate.nearest import Sentences, Spoken, clauses_of, is_question
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.people import Known as KnownPeople
from pkg_pipeline.memory.gate.polarity import polarity, turned_round
from pkg_pipeline.memory.gate.progress import is_weighed_answer
from pkg_pipeline.memory.gate.roles import misplaced, subject_of
from pkg_pipeline.memory.gate.said_amounts import Said, other_total, said_in, unsaid, unsaid_rate
from pkg_pipeline.memory.gate.series import other_end, other_order
from pkg_pipeline.memory.gate.shown import is_far, retelling, says_too_little, unshown_clause
from pkg_pipeline.memory.gate.things import unsaid_thing
from pkg_pipeline.memory.gate.wording import CHARACTERS_A_WORD, UNSUPPORTED_WORDS, added_clause, content, unsupported
from pkg_pipeline.memory.languages.scripts import HAN
from pkg_pipeline.memory.records import Person, SourceMessage
from pkg_pipeline.memory.text.name_forms import inflections
from pkg_pipeline.memory.text.normalise import comparable, sentences, word_count
from pkg_pipeline.memory.text.speech import fluent

FREE_WORDS = 8
"""A sentence about a whole talk may have so many content words that nobody said."""
FAR = 5
"""So many messages before those cited a name is still meant by a pronoun."""
SHORTEST_RETOLD = 8
LABEL_WORDS = 4
"""So many words beside names may stand before a colon, to say who says what stands behind it."""
OTHER_VARIANT = "names another variant than its messages"
ONLY_ASKED = "tells what was only asked"
AS_SAID = ", so it is told as said"
_NUMBERED = re.compile(r"(?=.*[^\W\d_]).*\d|\d{3}.*\d{4}$")
"""A name with digits beside its letters, or a telephone's: never a mere number."""
_MARKS = " .!?…。！？\"'"
_LISTED = re.compile(r"[,，、;；]\s*|\s+(?:and|и)\s+|和")
_LABEL = re.compile(r"^([^:：]{0,80}?)(?:(?<!\d)[:：]|[:：](?!\d))\s*")
"""Who says what stands behind it; never the hours of a time."""


class Fault(NamedTuple):
    """Why a text is not true, and the word at fault: that one only for a second prompt."""

    reason: str
    word: str

    def told_as_said(self) -> Fault:
        """The same of a text in whose place its messages' own words are published."""
        return self._replace(reason=f"{self.reason}{AS_SAID}")


class Testimony:
    """Messages that something rests on, with what stands around them and who may be named. Read on demand."""

    def __init__(
        self,
        messages: Sequence[SourceMessage],
        people: Sequence[Person],
        zone: ZoneInfo,
        *,
        around: Sequence[str] = (),
        also: Sequence[str] = (),
        talk: Sequence[SourceMessage] = (),
        is_digest: bool = False,
    ) -> None:
        """``around``: other texts of the talk. ``also``: texts that count as said, as an item's earlier words.

        ``is_digest``: the messages tell of talks, so that who does what and what is denied cannot be told by them.
        """
        files = [one.name for message in messages for one in message.attachments if one.name]
        self.messages = tuple(messages)
        self.texts = (*(message.text for message in messages), *also, *files)
        self.around = tuple(around)
        self.talk = tuple(talk)
        self.is_digest = is_digest
        self.people = tuple(people)
        self.zone = zone

    @cached_property
    def bases(self) -> tuple[date, ...]:
        return tuple(message.sent_at.astimezone(self.zone).date() for message in self.messages)

    @cached_property
    def days(self) -> SaidDays:
        own = list(zip((message.text for message in self.messages), self.bases, strict=True))
        texts = [*own, *((text, self.bases[-1]) for text in self.texts[len(own) :])]
        around = said_days((self.without_names(text), self.bases[-1]) for text in self.around)
        return said_days(((self.without_names(text), base) for text, base in texts), around=around.mentions)

    @cached_property
    def _like_figures(self) -> re.Pattern[str] | None:
        """Names of people here that are words of days too (Марта, April, May), or hold digits (Sender 4)."""
        names = {part for person in self.people for part in person.name.split()}
        alike = [one for one in names if self.bases and mentions(one, self.bases[-1])]
        forms = {form for one in alike for form in inflections(folded(one))}
        either = [rf"{form[:1].upper()}{re.escape(form[1:])}" for form in sorted(forms)]
        either += sorted({re.escape(person.name) for person in self.everyone if _NUMBERED.search(person.name)}, key=len)
        return re.compile(rf"(?<![^\W{HAN}])(?:{'|'.join(reversed(either))})(?!\d)(?![^\W{HAN}])") if either else None

    def without_names(self, text: str) -> str:
        """The text without names that would be read as days or numbers."""
        return text if self._like_figures is None else self._like_figures.sub("…", text)

    @cached_property
    def said(self) -> Said:
        return said_in((*self.texts, *(person.name for person in self.people)), self.days.years)

    @cached_property
    def said_around(self) -> Said:
        return said_in(self.around, frozenset())

    @cached_property
    def known(self) -> KnownPeople:
        return KnownPeople(self.people, (*self.texts, *self._last_named))

    @cached_property
    def _last_named(self) -> tuple[str, ...]:
        """Whom pronouns in the messages may stand for: who is named last before them, if they name nobody else."""
        if not self.messages or others_named((message.text for message in self.messages), self.people):
            return ()
        before = [m for m in self.talk if 0 < self.messages[0].number - m.number <= FAR]
        named = (others_named((message.text,), self.people) for message in reversed(before))
        return next((some for some in named if some), ())

    @property
    def everyone(self) -> tuple[Person, ...]:
        """The people here and all who write in the talk."""
        return tuple(dict.fromkeys((*self.people, *(message.sender for message in self.talk))))

    @cached_property
    def names(self) -> frozenset[str]:
        return content(" ".join(person.name for person in self.people))

    def fault(self, text: str, quote: str = "") -> Fault | None:
        """Why ``text`` is not true to the messages, or None."""
        if not self.messages:
            return None
        if (word := outdated(text, self.messages, self.bases)) is not None:
            return Fault("tells what its messages replace by something else", word)
        if (word := only_asked(text, self.talk or self.messages, self.zone)) is not None:
            return Fault(ONLY_ASKED, word)
        if (label := other_label(text, quote, self.texts)) is not None:
            return Fault(OTHER_VARIANT, label)
        return self.figures(text) or self.turned(text, quote) or self.misplaced(text, quote) or self.invented(text)

    @cached_property
    def spoken(self) -> Sentences:
        return Sentences(self.messages, self.talk or self.messages)

    def told(self, sentence: str) -> Fault | None:
        """Why a sentence about the whole talk is not true to it, or None; its nearest messages say which way it is."""
        if not self.messages or self.is_retold(sentence):
            return None
        if (fault := self.figures(sentence)) is not None or self.is_digest:
            return fault
        if (word := only_asked(sentence, self.messages, self.zone)) is not None:
            return Fault(ONLY_ASKED, word)
        if has("agrees", sentence) and (word := outdated(sentence, self.messages, self.bases)) is not None:
            return Fault("tells what its messages replace by something else", word)
        return (
            self.turned(sentence, "", whole=True)
            or self.misplaced(sentence)
            or self.invented(sentence, most=FREE_WORDS)
        )

    def doubt(self, text: str) -> Fault | None:
        """Why a text that is not untrue cannot be shown to be true either, or None: it is better told as said."""
        if self.is_digest or not self.messages or self.is_retold(text):
            return None
        word = unsure(self.without_names(text), self.messages, self.bases)
        return None if word is None else Fault("says more of a number or day than its messages", word)

    def unshown(self, text: str, quote: str = "") -> Fault | None:
        """Why a text is better told as said where that can be: what it says cannot be shown by what was said."""
        if self.is_digest or not self.messages or self.is_retold(text) or (not quote and self._names_topics(text)):
            return None
        said, people = (*self.texts, *self.around), self.everyone or self.people
        known = KnownPeople(people, said)
        told = text if quote else retelling(text, self.spoken, self.names)
        word = unsaid_thing(blanked(told, self.bases[-1]), (*said, *(one.name for one in people)), known.names)
        if word is None and not quote:
            word = added_clause(blanked(text, self.bases[-1]), said, self.names)
        if word is not None:
            return Fault("names what its messages do not", word)
        clause = unshown_clause(text, self.spoken, people, quote)
        if clause is not None and any(clause in lent for lent in self.texts[len(self.messages) :]):
            clause = None  # named in earlier words
        if clause is None and quote:
            plain = self.without_names(text)
            clause = overtaken(plain, self.messages, self.bases)
        if clause is not None:
            return Fault("cannot be shown by what its messages say", clause[:20])
        if quote:
            return Fault("is far from each of its messages", "") if is_far(text, self.spoken, people, quote) else None
        is_little = says_too_little(text, self.spoken, people)
        return Fault("says too little to be shown to be true", "") if is_little else None

    def is_retold(self, sentence: str) -> bool:
        """Whether a sentence, behind its label ("Anna: …"), stands in a message word for word but for hesitations."""
        label = "".join(_LABEL.findall(sentence))
        named = names_in(label, self.everyone)
        if word_count(label) > LABEL_WORDS + sum(word_count(one.word) for one in named):
            return False
        core = fluent(comparable(_LABEL.sub("", sentence)))
        parts = [part.strip(_MARKS) for part in re.split("[;；]", core) if part.strip(_MARKS)]
        shortest = SHORTEST_RETOLD // CHARACTERS_A_WORD if re.search(f"[{HAN}]", core) else SHORTEST_RETOLD
        is_long = len(core.strip(_MARKS)) >= shortest
        writers = {one.person for one in named if one.person is not None}
        said = [text for text, sender in self._comparable if not writers or sender in writers]
        return is_long and all(any(part in text for text in said) for part in parts)

    def _names_topics(self, sentence: str) -> bool:
        """Whether a sentence only lists in words said what was talked of ("Anna and Tom discussed the lease, rent")."""
        verb = found("discusses", sentence)
        if verb is None:
            return False
        topics = comparable(sentence).partition(verb)[2].strip(f"{_MARKS}:：")
        named = [one for one in _LISTED.split(topics) if one]
        return bool(named) and all(any(one in text for text, _ in self._comparable) for one in named)

    @cached_property
    def _comparable(self) -> tuple[tuple[str, Person | None], ...]:
        """What was said, with who wrote it."""
        senders = [*(message.sender for message in self.messages), *[None] * len(self.texts)]
        return tuple((fluent(comparable(text)), sender) for text, sender in zip(self.texts, senders, strict=False))

    def figures(self, text: str) -> Fault | None:
        """A day, number, unit, label or name that was not said."""
        plain = self.without_names(text)
        if (word := unsaid_day(plain, self.days)) is not None:
            return Fault("holds a date that its messages do not", word)
        rest = blanked(plain, self.bases[-1])
        if (found := unsaid(rest, self.said, self.said_around, may_count=self.is_digest)) is not None:
            return Fault(*found)
        if (rate := unsaid_rate(rest, self.texts, self.around)) is not None:
            return Fault("names another rate than its messages", rate)
        if not self.is_digest and (word := misbound(plain, self.messages, self.bases)) is not None:
            return Fault("says of one thing what its messages say of another", word)
        said = [message.text for message in self.messages]
        if not self.is_digest and (word := other_order(rest, said) or other_end(rest, said)) is not None:
            return Fault("says of one thing what its messages say of another", word)
        if not self.is_digest and (word := other_total(plain, said)) is not None:
            return Fault("says of one thing what its messages say of another", word)
        if (label := unsaid_label(text, self.texts)) is not None:
            return Fault(OTHER_VARIANT, label)
        if (name := self.known.stranger(text)) is not None:
            return Fault("holds a name that its messages do not", name)
        return None

    def turned(self, text: str, quote: str, *, whole: bool = False) -> Fault | None:
        """A clause that denies what its nearest sentences say, or says what they deny or what was refused.

        ``whole``: the messages are a whole talk, of which only the nearest sentences count.
        """
        word = None if whole else turned_round(text, self.texts, quote)
        for clause in clauses_of(text) if word is None else ():
            claim = claim_of(clause) if whole else None
            if claim is not None and not is_borne_out(claim, clause, self.spoken, self.names):
                word = clause[:20]
                break
            if claim == "undone" or (whole and has("again", clause)):
                continue
            near = self.spoken.nearest(clause, self.names)
            answers = [
                next(iter(sentences(one.text)), "")
                for spoken in near
                if spoken.is_question
                for one in self.spoken.answers(spoken)
            ]
            said = [*(spoken.text for spoken in near), *answers] or self._words_of_refuser(clause)
            is_denied = whole and polarity(clause).denies and self._is_denied(near)
            word = turned_round(clause, said, "") if said and not is_denied else None
            is_told = claim == "done" or has("supposed", clause) or has("receives", text) or is_question(text)
            word = word or (clause[:20] if not is_told and self._was_refused(clause, near) else None)
            if word is not None:
                break
        return None if word is None else Fault("turns round what its messages say", word)

    def _is_denied(self, near: Sequence[Spoken]) -> bool:
        """Whether sentences deny or give up anything, or got a refusal or a second thought for an answer."""
        return any(
            any(map(is_weighed_answer, self.spoken.answers(one))) if one.is_question else denies(one.text)
            for one in near
        )

    def _words_of_refuser(self, clause: str) -> list[str]:
        """What the one wrote of whom a clause tells only that they refused."""
        subject = subject_of(clause, Scene(self.spoken, self.everyone)) if polarity(clause).refuses else None
        person = None if subject is None else subject.person
        return [m.text for m in self.messages if person is not None and m.sender.entity_id == person.entity_id]

    def _was_refused(self, clause: str, near: Sequence[Spoken]) -> bool:
        """Whether a clause tells as settled what was only asked and then refused."""
        mine = polarity(clause)
        if mine.denies or mine.refuses or not near or not all(spoken.is_question for spoken in near):
            return False
        answers = [self.spoken.answers(spoken) for spoken in near]
        return all(
            any(says_no(answer) or is_weighed_answer(answer) for answer in some[:1])
            and not any(self._puts_instead(answer, clause) for answer in some)
            for some in answers
        )

    def _puts_instead(self, answer: SourceMessage, clause: str) -> bool:
        """Whether an answer, or a part of it behind its "no", promises, or names somebody whom the clause names."""
        scene = Scene(self.spoken, self.everyone, others_named((*self.spoken.texts, clause), self.everyone))
        named = scene.names(clause)
        parts = [part for part in parts_of(answer.text) if not (polarity(part).denies or has("refusal", part))]
        names = [one for part in parts for one in scene.names(part)]
        is_taken = any(has("promise", part) and not has("condition", part) for part in parts)
        return is_taken or any(one.is_same(other) for one in named for other in names)

    def misplaced(self, text: str, quote: str = "") -> Fault | None:
        name = misplaced(text, self.spoken, self.everyone or self.people, quote)
        return None if name is None else Fault("tells of one what its messages tell of another", name)

    def invented(self, text: str, *, most: int = UNSUPPORTED_WORDS) -> Fault | None:
        """Words that neither the messages nor the talk around them support."""
        word = unsupported(blanked(text, self.bases[-1]), self.texts, self.around, self.names, most)
        return None if word is None else Fault("does not follow from the messages that it cites", word)

    @cached_property
    def _day_beside(self) -> frozenset[date]:
        """The only day that the messages right beside the cited ones name, where these name none."""
        numbers = {message.number for message in self.messages}
        if not numbers or any(one.kind in EXACT for one in self.days.mentions):
            return frozenset()
        beside = [m for m in self.talk if {m.number - 1, m.number + 1} & numbers]
        said = [mentions(m.text, m.sent_at.astimezone(self.zone).date()) for m in beside]
        days = {one.days | one.before for found in said for one in found if one.kind in EXACT}
        return next(iter(days)) if len(days) == 1 else frozenset()

    def follows_due(self, due: date) -> bool:
        if follows_due(due, self.days) or due in self._day_beside:
            return True
        is_timed = bool(self.said.clocks) and not self.days.mentions
        return is_timed and any(0 <= (due - base).days <= 1 for base in self.bases)
