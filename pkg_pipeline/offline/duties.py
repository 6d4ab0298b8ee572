"""Cues of duty in a chat, grouped: a request with the promise that answers it, and what is said twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pkg_pipeline.memory.message.attachments import is_placeholder
from pkg_pipeline.offline.answers import (
    BARE_TERMS,
    COURTESIES,
    RICH_TERMS,
    AnswerLine,
    answer_to,
    aside,
    asides,
    burst_after,
    says_what,
)
from pkg_pipeline.offline.found import roots_and_days
from pkg_pipeline.offline.phrases import Giver, mark, phrases
from pkg_pipeline.offline.reading import Line, LineChance, Reading, Sentence, vocative
from pkg_pipeline.offline.weighing import Weighed, asks_for_facts, is_question, weigh_action

ANSWER_REACH = 6
"""Lines between a request and the promise that answers it."""
REPEAT_REACH = 4

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
CUE_FROM = -1.0
"""From these log-odds of the head of lines on a line is looked at though no phrase of duty stands in it."""
ASKED_BELOW = 0.0
"""Log-odds that the speaker bears it, below which the mere form of a promise is a request."""
TAKEN = {"promised", "consented", "accepted", "done", "file"}


@dataclass(frozen=True, slots=True)
class Cue:
    """A sentence that hands out or takes a duty; ``kinds``: classes of its phrases, ``asides``: of ``asides.toml``."""

    line: Line
    weighed: Weighed
    kinds: frozenset[str]
    asides: frozenset[str]
    giver: Giver
    chance: float = 0.0
    """Log-odds that its line says a task."""

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
    roots: frozenset[str] = frozenset()

    @property
    def request(self) -> Cue | None:
        return next((cue for cue in self.cues if not cue.is_promise), None)

    @property
    def promise(self) -> Cue | None:
        return next((cue for cue in reversed(self.cues) if cue.is_promise), None)

    @property
    def told(self) -> Cue:
        """The cue that says most, of those whose line is no less likely a task."""
        return max(
            self.cues,
            key=lambda cue: (
                min(round(cue.chance), 0),
                min(len(cue.sentence.terms), 6),
                cue.is_promise,
                -cue.line.index,
            ),
        )


def cues_of(reading: Reading) -> list[Cue]:
    """Every sentence with a phrase of duty, and every line without one that the head of lines takes for one, in order;
    questions for facts are none.
    """
    found = _phrased(reading)
    known = {cue.line.index for cue in found}
    found += [
        _unphrased(line, chance)
        for line, chance in zip(reading.lines, reading.chances, strict=True)
        if line.index not in known and line.sentences and not line.is_data
        if chance.task >= max(CUE_FROM, chance.decision) and not _says_done(line)
    ]
    kept = (cue for cue in found if not _is_nobodys(cue.sentence) and not _only_thanks(cue))
    return sorted(kept, key=lambda cue: (cue.line.index, cue.sentence.place))


def _is_nobodys(sentence: Sentence) -> bool:
    """Whether a sentence promises no deed: a condition and what would come of it, only to wait for what another gives,
    or what stands for a file.
    """
    return any(mark(name).search(sentence.text) for name in ("only_if", "awaits")) or is_placeholder(sentence.text)


def _only_thanks(cue: Cue) -> bool:
    """Whether a line without a phrase of duty thanks or greets and names nothing that can be fixed."""
    said = cue.asides & COURTESIES if "no phrase" in cue.kinds else ()
    return bool(said) and not says_what(cue.sentence, cue.line)


def _says_done(line: Line) -> bool:
    return any(phrases(one.language).done.search(one.text) for one in line.sentences)


def _unphrased(line: Line, chance: LineChance) -> Cue:
    sentence = max(line.sentences, key=lambda s: (min(len(s.terms), RICH_TERMS), -s.place))
    said = frozenset(asides(sentence.text, sentence.language))
    giver: Giver = "speaker" if chance.speaker >= 0 else "addressee"
    return Cue(line, Weighed(sentence, 0.0, ()), frozenset({"no phrase"}), said, giver, chance.task)


def _phrased(reading: Reading) -> list[Cue]:
    found: list[Cue] = []
    for line, sentence in reading.heard:
        weighed = None if asks_for_facts(sentence) else weigh_action(sentence, line, in_chat=True)
        if weighed is None:
            continue
        asks = is_question(sentence.text) and not aside("tag", sentence.text, sentence.language)
        if asks and weighed.giver in {"none", "speaker"}:
            continue
        kinds = frozenset(CLASS_OF[signal.name] for signal in weighed.signals if signal.name in CLASS_OF)
        said = frozenset(asides(sentence.text, sentence.language))
        chance = reading.chances[line.index].task
        found.append(Cue(line, weighed, kinds, said, _giver(reading, line, weighed, kinds), chance))
    return found


def _giver(reading: Reading, line: Line, weighed: Weighed, kinds: frozenset[str]) -> Giver:
    """Whose the duty is: the mere form of a promise is a request beside words of request or somebody's name, or where
    the head of lines takes it for one.
    """
    if weighed.giver != "speaker":
        return weighed.giver
    if mark("to_me").search(weighed.sentence.text):
        return "addressee"
    if not kinds & _FORMS or kinds & _OWN:
        return weighed.giver
    if reading.chances[line.index].speaker < ASKED_BELOW:
        return "addressee"
    called = kinds & _ASKS or vocative(replace(line, sentences=(weighed.sentence,)), reading.others_than(line.speaker))
    return "addressee" if called else "speaker"


def duties_of(reading: Reading) -> list[Duty]:
    """Cues of one duty together: a request with the promise that answers it, and what is said twice."""
    duties: list[Duty] = []
    for cue in cues_of(reading):
        roots = roots_and_days(cue.sentence)
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


def _belongs(reading: Reading, cue: Cue, roots: frozenset[str], duty: Duty) -> bool:
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


def lines_of(duty: Duty) -> tuple[int, ...]:
    """The lines that say it: what is quoted first, every cue, the answer that took it."""
    lines = [duty.told.line.index, *(cue.line.index for cue in duty.cues)]
    if duty.request is not None and duty.answer is not None and duty.answer.kind in TAKEN - {"file"}:
        lines.append(duty.answer.line.index)
    return tuple(dict.fromkeys(lines))
