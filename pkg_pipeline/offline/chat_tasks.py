"""Finds the tasks of a chat: cues of duty with what answers them, and how probable each group is (P13, B16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from pkg_pipeline.memory.records import Owner, Person
from pkg_pipeline.offline.answers import AnswerLine, answer_to, aside, asides, burst_after
from pkg_pipeline.offline.dates import due_date, find_dates
from pkg_pipeline.offline.found import FoundAction, roots_of
from pkg_pipeline.offline.heads import probability
from pkg_pipeline.offline.phrases import Giver, mark, phrases
from pkg_pipeline.offline.reading import Line, Reading, Sentence, named_in, vocative
from pkg_pipeline.offline.weighing import Weighed, asks_for_facts, has_money, is_question, weigh_action

HEAD: Final = "chat_tasks"
THRESHOLD = 0.5
"""From this probability on a task is published."""
ANSWER_REACH = 6
"""Lines between a request and the promise that answers it."""
REPEAT_REACH = 4
ON_THE_SPOT = timedelta(minutes=15)
BARE_TERMS = 1
LONG_WORDS = 45
RICH_TERMS = 3

_CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "promise": (
        "bare_will",
        "i_say",
        "i_will_do",
        "i_will_any",
        "doing_it",
        "we_bring",
        "i_soon_do",
        "to_you",
        "i_shall_be",
        "it_will_be",
    ),
    "promise_loose": ("i_do", "then_i", "give_you", "by_form", "doing"),
    "on_me": ("on_me", "mine"),
    "dated_verb": ("dated_verb", "it_goes"),
    "must_self": ("i_have_to",),
    "offer_self": ("i_can_do",),
    "let_me": ("let_me",),
    "please": ("please",),
    "can_you": ("can_you", "would_you_mind", "will_you"),
    "help_me": ("help_me",),
    "imperative": ("imperative", "hand_over", "a_bit", "order_form"),
    "remind": ("do_not_forget",),
    "let_me_know": ("let_me_know",),
    "you_need": ("you_need", "on_you", "want_you", "must_now", "you_do"),
    "you_can": ("you_can", "you_will"),
    "need": ("need",),
    "together": ("let_us", "can_we", "together"),
    "we_will": ("we_will_do", "we_will"),
    "assign": ("supposed_to", "task", "duty", "remote_due", "gonna_work", "let_third", "third_will", "infinitive_due"),
    "i_need": ("i_need", "would_like", "needed_by", "noun_needed"),
    "waiting": ("waiting",),
    "free": ("are_you_free", "works_for"),
}
"""Classes of the phrases of ``signals.toml``, shared by the languages: the head weighs classes, not phrases."""
CLASS_OF: Final = {name: kind for kind, names in _CLASSES.items() for name in names}
_FORMS = frozenset({"promise_loose", "dated_verb"})
_OWN = frozenset({"promise", "on_me", "must_self"})
_ASKS = frozenset({"help_me", "please", "can_you"})
_TAKEN = {"promised", "consented", "accepted", "done", "file"}


@dataclass(frozen=True, slots=True)
class Cue:
    """A sentence that hands out or takes a duty; ``kinds``: classes of its phrases, ``asides``: of ``asides.toml``."""

    line: Line
    weighed: Weighed
    kinds: frozenset[str]
    asides: frozenset[str]
    giver: Giver

    @property
    def sentence(self) -> Sentence:
        return self.weighed.sentence

    @property
    def is_promise(self) -> bool:
        return self.giver == "speaker"


@dataclass(slots=True)
class Duty:
    """Cues that speak of one duty in order; ``answer``: what the asked one said to the first request."""

    cues: list[Cue]
    answer: AnswerLine | None = None
    roots: set[str] = field(default_factory=set[str])

    @property
    def request(self) -> Cue | None:
        return next((cue for cue in self.cues if not cue.is_promise), None)

    @property
    def promise(self) -> Cue | None:
        return next((cue for cue in reversed(self.cues) if cue.is_promise), None)

    @property
    def told(self) -> Cue:
        """The cue that says most."""
        return max(self.cues, key=lambda cue: (min(len(cue.sentence.terms), 6), cue.is_promise, -cue.line.index))


def cues_of(reading: Reading) -> list[Cue]:
    """Every sentence with a phrase of duty, in order; questions for facts are none."""
    found: list[Cue] = []
    for line, sentence in reading.heard:
        weighed = None if asks_for_facts(sentence) else weigh_action(sentence, line)
        if weighed is None:
            continue
        asks = is_question(sentence.text) and not aside("tag", sentence.text, sentence.language)
        if asks and weighed.giver in {"none", "speaker"}:
            continue
        kinds = frozenset(CLASS_OF[signal.name] for signal in weighed.signals if signal.name in CLASS_OF)
        said = frozenset(asides(sentence.text, sentence.language))
        found.append(Cue(line, weighed, kinds, said, _giver(reading, line, weighed, kinds)))
    return found


def _giver(reading: Reading, line: Line, weighed: Weighed, kinds: frozenset[str]) -> Giver:
    """Whose the duty is: the mere form of a promise is a request beside words of request or somebody's name."""
    if weighed.giver != "speaker" or not kinds & _FORMS or kinds & _OWN:
        return weighed.giver
    called = kinds & _ASKS or vocative(replace(line, sentences=(weighed.sentence,)), reading.others_than(line.speaker))
    return "addressee" if called else "speaker"


def duties_of(reading: Reading) -> list[Duty]:
    """Cues of one duty together: a request with the promise that answers it, and what is said twice."""
    duties: list[Duty] = []
    for cue in cues_of(reading):
        roots = roots_of(cue.sentence.terms)
        duty = next((d for d in reversed(duties[-8:]) if _belongs(reading, cue, roots, d)), None)
        if duty is None:
            duty = Duty([])
            duties.append(duty)
        duty.cues.append(cue)
        duty.roots |= roots
    for duty in duties:
        first = duty.request or duty.cues[0]
        asked = vocative(first.line, reading.others_than(first.line.speaker))
        duty.answer = answer_to(reading, first.line, asked)
    return duties


def _belongs(reading: Reading, cue: Cue, roots: set[str], duty: Duty) -> bool:
    """Whether a cue speaks of the duty: its answer, or said again by the same person."""
    last = duty.cues[-1]
    gap, shared = cue.line.index - last.line.index, roots & duty.roots
    bare = len(cue.sentence.terms) <= BARE_TERMS
    if cue.line.speaker == last.line.speaker:
        if cue.is_promise != last.is_promise or gap > REPEAT_REACH:
            return False
        return bool(shared) or (bare and gap <= 1) or (gap == 0 and not last.sentence.terms)
    if cue.is_promise and not last.is_promise and gap <= ANSWER_REACH:
        named = vocative(last.line, reading.others_than(last.line.speaker))
        if named is not None and named != cue.line.speaker:
            return False
        first = next(iter(burst_after(reading, last.line, cue.line.speaker)), None)
        answers = first is not None and first.index == cue.line.index
        return bool(shared) or (bare and answers) or (answers and _accepts(cue.line))
    if not cue.is_promise and last.is_promise and gap <= 2:  # "I'll send it" - "yes, please send it by Friday"
        return bool(shared)
    return False


def _accepts(line: Line) -> bool:
    return "acceptance" in asides(line.sentences[0].text, line.language)


def features(reading: Reading, duty: Duty) -> dict[str, float]:
    """What the head weighs: classes of phrases, form, asides, the answer, and what was asked before."""
    told, request, promise = duty.told, duty.request, duty.promise
    said = set[str]().union(*(cue.asides for cue in duty.cues))
    found = {f"kind {kind}" for cue in duty.cues for kind in cue.kinds}
    found |= {
        f"aside {name}" for name in said & {"wish", "playful", "care", "advice", "agenda", "if_needed", "benefit"}
    }
    dated = any(_is_dated(cue) for cue in duty.cues)
    answer = duty.answer.kind if duty.answer else "none"
    taken = promise is not None and request is not None
    if request is not None:
        found.add("answer promised" if taken else f"answer {answer}")
    else:
        found |= {f"reply {answer}"} & {"reply refused", "reply already", "reply accepted", "reply thanked"}
        found |= {"was asked"} if _was_asked(reading, duty.cues[0].line) else set()
    taken = taken or (request is not None and answer in _TAKEN)
    texts = [cue.line.message.text for cue in duty.cues] + ([duty.answer.text] if duty.answer else [])
    checks = {
        "dated": dated,
        "deadline": any(_has_deadline(cue) for cue in duty.cues),
        "amount": any(has_money(cue.sentence.text) for cue in duty.cues),
        "product": any(phrases(c.sentence.language).work_product.search(c.sentence.text) for c in duty.cues),
        "no terms": not told.sentence.terms,
        "one term": len(told.sentence.terms) == 1,
        "rich": len(told.sentence.terms) >= RICH_TERMS,
        "long": told.sentence.words > LONG_WORDS,
        "question": promise is None and is_question(told.sentence.text) and "kind can_you" not in found,
        "condition": _any(duty, "condition") and not _any(duty, "polite"),
        "unreal": _any(duty, "unreal") and not _any(duty, "polite"),
        "hedge": mark("hedge").search(told.sentence.text) is not None,
        "negation": mark("negation").search(told.sentence.text) is not None,
        "past": mark("past").search(told.sentence.text) is not None,
        "says done": phrases(told.sentence.language).done.search(told.sentence.text) is not None,
        "laughter": any(_laughs(text, told) for text in texts[: len(duty.cues)]),
        "laughter after": duty.answer is not None and _laughs(texts[-1], told),
        "phatic bare": "phatic" in said and not dated and len(told.sentence.terms) <= RICH_TERMS - 1 and not taken,
        "phatic": "phatic" in said,
        "immediate": "immediate" in said and not dated,
        "alone": promise is None and not taken and not dated and not found & {"kind please", "kind can_you"},
        "care unpromised": bool(said & {"care", "advice"}) and promise is None,
        "offer alone": "offer" in said and promise is None and not taken and "kind can_you" not in found,
        "asked and promised": promise is not None and request is not None,
        "Chinese": told.sentence.language == "zh",
    }
    found |= {name for name, holds in checks.items() if holds}
    score = max(cue.weighed.score for cue in duty.cues)
    return dict.fromkeys(sorted(found), 1.0) | {"score": max(-2.0, min(score, 5.0))}


def _any(duty: Duty, name: str) -> bool:
    return any(name in cue.asides for cue in duty.cues)


def _laughs(text: str, cue: Cue) -> bool:
    return "laughter" in asides(text, cue.sentence.language)


def _is_dated(cue: Cue) -> bool:
    return any(
        found.day >= cue.line.day for found in find_dates(cue.sentence.text, cue.sentence.language, cue.line.day)
    )


def _has_deadline(cue: Cue) -> bool:
    found = find_dates(cue.sentence.text, cue.sentence.language, cue.line.day)
    return any(one.is_deadline and one.day >= cue.line.day for one in found)


def _was_asked(reading: Reading, line: Line) -> bool:
    """Whether another asked something just before."""
    for earlier in reversed(reading.lines[max(0, line.index - 2) : line.index]):
        if earlier.speaker.entity_id != line.speaker.entity_id:
            return is_question(earlier.message.text)
    return False


def _on_the_spot(duty: Duty) -> bool:
    """Whether a file answered the request within minutes: done before it was a task."""
    request, answer = duty.request, duty.answer
    if request is None or answer is None or answer.kind != "file" or _is_dated(request):
        return False
    return answer.line.message.sent_at - request.line.message.sent_at <= ON_THE_SPOT


def _owner(reading: Reading, duty: Duty) -> tuple[Owner, Person | None]:
    cue = duty.promise or duty.request or duty.cues[0]
    others = reading.others_than(cue.line.speaker)
    giver = cue.giver
    if giver == "both":
        return "both", None
    if giver == "speaker":
        person: Person | None = cue.line.speaker
    else:
        taker = duty.answer.line.speaker if duty.answer and duty.answer.kind in _TAKEN else None
        named = named_in(cue.sentence.text, others)
        asked = vocative(cue.line, others)
        person = asked or (named if giver == "none" else None) or taker or reading.addressee(cue.line) or named
    if person is None:
        return ("them" if cue.line.speaker.is_self else "both"), None
    return ("self" if person.is_self else "them"), person


def _due(reading: Reading, duty: Duty) -> date | None:
    """The due date: the last promise's, else the answer's, else the request's, else of a short sentence beside it."""
    cues = sorted(duty.cues, key=lambda cue: (not cue.is_promise, -cue.line.index))
    places = [(text, cue.line) for cue in cues if cue.is_promise for text in (_from_phrase(cue), cue.sentence.text)]
    if duty.answer is not None and duty.request is not None and duty.answer.kind in _TAKEN | {"other", "asked"}:
        places += [
            (one.message.text, one) for one in burst_after(reading, duty.request.line) if len(one.message.text) <= 60
        ]
    places += [(cue.sentence.text, cue.line) for cue in cues if not cue.is_promise]
    for cue in cues:
        near = (s for s in cue.line.sentences if abs(s.place - cue.sentence.place) == 1 and s.words <= 6)
        places += [(s.text, cue.line) for s in near]
    days = (due_date(text, line.language, line.day) for text, line in places)
    return next((day for day in days if day is not None), None)


def lines_of(duty: Duty) -> tuple[int, ...]:
    """The lines that say it: what is quoted first, every cue, the answer that took it."""
    lines = [duty.told.line.index, *(cue.line.index for cue in duty.cues)]
    if duty.request is not None and duty.answer is not None and duty.answer.kind in _TAKEN - {"file"}:
        lines.append(duty.answer.line.index)
    return tuple(dict.fromkeys(lines))


def _from_phrase(cue: Cue) -> str:
    """The sentence from the clause on that takes the duty ("the part comes tomorrow, it'll be ready Thursday")."""
    text = cue.sentence.text
    places = [m.start() for signal in cue.weighed.signals if (m := signal.pattern.search(text))]
    at = min(places, default=0)
    return text[max(text.rfind(mark, 0, at) for mark in (",", ";", "，", "；")) + 1 :]


def find_chat_tasks(reading: Reading, settled: Collection[Sentence] = ()) -> list[FoundAction]:
    """The tasks of a chat in order; ``settled``: sentences of decisions, which are no tasks of both."""
    found: list[FoundAction] = []
    for duty in duties_of(reading):
        sure = probability(HEAD, features(reading, duty))
        owner, person = _owner(reading, duty)
        if (
            sure < THRESHOLD
            or _on_the_spot(duty)
            or (owner == "both" and any(c.sentence in settled for c in duty.cues))
        ):
            continue
        told = duty.told
        helper = next((cue.sentence for cue in duty.cues if cue is not told), None)
        due = _due(reading, duty)
        found.append(
            FoundAction(told.sentence, sure, owner, person, lines_of(duty), due, helper=helper, probability=sure)
        )
    return found
