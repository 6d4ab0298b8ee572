"""What a talk may tell of people, each value with everybody whose it may be, and the features that weigh it (P13)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pkg_pipeline.memory.gate.naming import is_known, names_in
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline.facts.capitals import with_names
from pkg_pipeline.offline.facts.contact_facts import own_words
from pkg_pipeline.offline.facts.found import FactKind, FoundFact
from pkg_pipeline.offline.facts.listed import listed
from pkg_pipeline.offline.facts.mentions import Mention, mentions_in, said
from pkg_pipeline.offline.facts.plain import Plainly, is_meant, plainly
from pkg_pipeline.offline.facts.told import is_place
from pkg_pipeline.offline.facts.ways import Way, ways_of
from pkg_pipeline.offline.facts.whose import UNSAID, asked_before, marked
from pkg_pipeline.offline.facts.words import any_cue, cue, says
from pkg_pipeline.offline.line_features import Named
from pkg_pipeline.offline.reading import MAX_MESSAGE_CHARS, Line, Reading, Sentence
from pkg_pipeline.offline.weighing import is_question

WEIGHED: Final[tuple[FactKind, ...]] = ("position", "organization", "family", "preference", "address")
"""Kinds that the head judges."""
SURE_RULE: Final = "rule is sure"
"""The feature of what a rule is sure of."""
OUTRIGHT: Final = "said outright"
"""The feature of what the words say of who speaks or of who is named right there."""
SAID_OF_ANOTHER: Final[Named] = {"the words say another": 1.0}
BEGINNING: Final = 3
ANSWER_CHARS: Final = (40, 12)
"""Of an answer at most, by words and by Chinese characters."""
FEW_WORDS: Final = 4
MANY_WORDS: Final = 16
SURE: Final = 0.9
_DOOR: Final = re.compile(
    r"\b(?:кв|подъезд|офис|оф|flat|apt|unit|street|st|road|rd|lane|ave)\b|[号室栋楼弄]", re.IGNORECASE
)
_QUOTE: Final = re.compile(r'["“”«»]')
_CLAUSE: Final = re.compile(r"[,;:.!?()（）—–，。；！？、\n]| - |(?<=[\u4e00-\u9fff])\s+")
_CONTACT: Final = re.compile(r"@|\d(?:[ ()-]{0,2}\d){6}")
_AFTER_CALL: Final = (",", "，", "!", "！")

_ONE_TELLING: Final = re.compile(
    r"[\s,，·|｜(（—–-]{0,3}(?:(?:at|with|for|in|as|of|в|во|на|из|от)\s+|的|做|当|任|是)?(?:the |an? )?", re.IGNORECASE
)
"""Between a job and its employer."""
_OF_ALL: Final = frozenset({"short", "long", "first", "only sentence", "of several", "Chinese", "Russian"})
"""Features that say the same of whomever."""
_Plainly = dict[tuple[FactKind, int, int], Plainly | None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """``fact`` with what weighs it; ``value``: which value of the talk it is, by number, of those that exclude each
    other (one value is of one person).
    """

    fact: FoundFact
    features: Named
    value: int


def candidates_in(reading: Reading, told: Iterable[FoundFact]) -> list[Candidate]:
    """``told``: what rules say; each is a candidate of its own, in place of what says less of the same."""
    by_line: dict[int, list[FoundFact]] = {}
    for fact in told:
        by_line.setdefault(fact.sentence.line, []).append(fact)
    found: list[Candidate] = []
    for line in reading.lines:
        if not line.is_data:
            found += _of_line(line, reading, by_line.get(line.index, []), len(found))
    return found


def _of_line(line: Line, reading: Reading, told: list[FoundFact], count: int) -> Iterator[Candidate]:
    said = own_words(line.message.text[:MAX_MESSAGE_CHARS])
    for sentence in line.sentences:
        if sentence.text not in said or any_cue("code").search(sentence.text) or says("vocative", sentence.text):
            continue
        text = with_names(sentence.text, reading)
        here = [fact for fact in told if fact.sentence == sentence]
        ruled = sorted(_told(here, text), key=lambda one: one.start - one.end)
        mentions = [*ruled, *mentions_in(text, sentence.language, reading.source.participants)]
        mentions += _answers(text, sentence, line, reading)
        around = _around(text, sentence, line, reading) if mentions else {}
        kept: list[Mention] = []
        for mention in mentions:
            is_called = mention.kind == "position" and _is_called(mention, text, sentence.language)
            is_over = any(one.is_ended and one.kind == mention.kind and _says(one.value, mention.value) for one in here)
            if not (is_called or is_over or any(one.kind == mention.kind and _overlap(one, mention) for one in kept)):
                kept.append(mention)
        plains = _plain_of(kept, text, sentence, line, reading)
        for mention in kept:
            count += 1
            own = _of_mention(mention, text, sentence, line, reading) | _beside(mention, kept, text)
            ways = list(_ways(mention, here, text, sentence, line, reading))
            plain = plains[mention.kind, mention.start, mention.end]
            if plain == "own" and "m first person" not in own and _is_topic_another(ways):
                plain = None
            for way in ways:
                is_plain = is_meant(plain, way.features)
                own_way = way.features | _rule(SURE, others=False) | {OUTRIGHT: 1.0} if is_plain else way.features
                own_way |= listed(mention, way, line)
                if plain == "yours" and not is_plain:
                    own_way = {name: at for name, at in own_way.items() if name != SURE_RULE} | SAID_OF_ANOTHER
                fact = _fact(mention, way, sentence, line, reading)
                yield Candidate(fact, around | own | own_way | _crossed(own | around, way.features), count)


def _plain_of(mentions: list[Mention], text: str, sentence: Sentence, line: Line, reading: Reading) -> _Plainly:
    """Of whom each mention is outright, by its kind and place; a job and its employer side by side are of the same,
    and a job that begins a sentence behind the news of one is the writer's.
    """
    found: _Plainly = {(one.kind, one.start, one.end): plainly(one, text, sentence) for one in mentions}
    first = next((one for one in mentions if one.kind == "position" and not text[: one.start].strip()), None)
    if first is not None and not is_question(text) and _is_own_news(sentence, line, reading):
        found[first.kind, first.start, first.end] = found[first.kind, first.start, first.end] or "own"
    work = [one for one in mentions if one.kind in ("position", "organization")]
    told = [one for one in work if found[one.kind, one.start, one.end]]
    for one in work:
        beside = next((of for of in told if of.kind != one.kind and _is_one_telling(one, of, text)), None)
        if found[one.kind, one.start, one.end] is None and beside is not None:
            found[one.kind, one.start, one.end] = found[beside.kind, beside.start, beside.end]
    return found


def _is_own_news(sentence: Sentence, line: Line, reading: Reading) -> bool:
    """Whether the sentences before say that who writes got a job."""
    before = [one for one in line.sentences if one.place < sentence.place]
    if line.index and reading.lines[line.index - 1].speaker == line.speaker:
        before += reading.lines[line.index - 1].sentences
    named = any(mark.whose.way in ("named", "theirs") for one in before for mark in marked(one.text, line, reading))
    return not named and any(says("job_news", one.text) and not is_question(one.text) for one in before)


def _is_one_telling(one: Mention, other: Mention, text: str) -> bool:
    end, start = min(one.end, other.end), max(one.start, other.start)
    return end <= start and _ONE_TELLING.fullmatch(text[end:start]) is not None


def _answers(text: str, sentence: Sentence, line: Line, reading: Reading) -> Iterator[Mention]:
    """The first words of a message whatever they are, where the messages before may ask for a fact of a kind."""
    if sentence.place > 1 or is_question(text):
        return
    lead = any_cue("yes_or_no").match(text)
    start = lead.end() if lead else 0
    cut = _CLAUSE.search(text, start)
    said_first = text[start : cut.start() if cut else len(text)]
    begun = cue(sentence.language, "lead_of_answer").match(said_first)
    start += begun.end() if begun else 0
    value = text[start : cut.start() if cut else len(text)].strip()
    is_short = len(value) <= ANSWER_CHARS[sentence.language == "zh"]
    if not is_short or len(value) < 2 or any_cue("no_answer").match(value):
        return
    for kind in WEIGHED:
        if asked_before(kind, line, reading, "may_ask") != UNSAID:
            yield Mention(kind, "answer", value, start, start + len(value), {})


def _is_topic_another(ways: list[Way]) -> bool:
    """Whether the lines before speak of somebody else, who may be meant where nobody is named."""
    return any("told of before" in one.features and "speaker: bearer takes part" not in one.features for one in ways)


def _beside(mention: Mention, others: list[Mention], text: str) -> Named:
    """Which other kinds the sentence may tell, and which in the same clause."""
    found: Named = {}
    for one in others:
        if one.kind == mention.kind:
            continue
        gap = text[min(one.end, mention.end) : max(one.start, mention.start)]
        found[f"beside {one.kind}"] = 1.0
        if not _CLAUSE.search(gap):
            found[f"beside {one.kind}, same clause"] = 1.0
    return found


def _crossed(features: Named, bearer: Named) -> Named:
    """What the words say of a value, apart for the speaker, who is addressed and everybody else."""
    who = next((name for name in ("speaker", "addressee") if f"{name}: bearer takes part" in bearer), "other")
    return {f"{who} & {name}": value for name, value in features.items() if name not in _OF_ALL}


def _told(here: list[FoundFact], text: str) -> Iterator[Mention]:
    seen: set[tuple[str, str]] = set()
    for fact in here:
        key = (fact.kind, comparable(fact.value))
        if fact.kind not in WEIGHED or fact.is_ended or key in seen:
            continue
        seen.add(key)
        words = fact.value.split(",")[0]
        start = text.casefold().find(words.casefold())
        start = start if start >= 0 else max(0, text.casefold().find(words.split()[-1].casefold()[:4]))
        yield Mention(fact.kind, "told", fact.value, start, min(len(text), start + len(words)), {})


def _is_called(mention: Mention, text: str, language: Language) -> bool:
    """Whether a trade is only how somebody is addressed or named ("谢谢王老师")."""
    if language == "zh" and said(language, "copula").search(text[: mention.start]):
        return False
    return any(m.start() < mention.end and mention.start < m.end() for m in said(language, "called").finditer(text))


def _is_called_out(lead: str, text: str, mention: Mention, language: Language) -> bool:
    """Whether a relative may be who is spoken to: they begin or end what is said."""
    behind = text[mention.end :].lstrip()
    if lead.strip():
        return False
    begins = behind[:1] in _AFTER_CALL or any(said(language, one).match(behind) for one in ("first", "second"))
    return begins or (text[: mention.start].rstrip().endswith((",", "，")) and not behind.strip(" ?!.)"))


def _overlap(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end


def _ways(
    mention: Mention, here: list[FoundFact], text: str, sentence: Sentence, line: Line, reading: Reading
) -> Iterator[Way]:
    """Every hypothesis, with what a rule says of it."""
    saying = [f for f in here if f.kind == mention.kind and _says(f.value, mention.value)]
    rules = {(f.about, f.name): f.confidence for f in sorted(saying, key=lambda f: f.confidence)}
    for way in ways_of(mention, text, sentence, line, reading):
        sure = rules.pop((way.person, way.name), None)
        yield replace(way, features=way.features | _rule(sure, bool(rules)))
    for (person, name), sure in rules.items():
        yield Way(person, name, {"rule alone": 1.0} | _rule(sure, others=False))


def _rule(sure: float | None, others: bool) -> Named:
    if sure is None:
        return {"rule says another": 1.0} if others else {}
    return {"rule": 1.0, SURE_RULE: float(sure >= SURE)}


def _says(one: str, other: str) -> bool:
    one, other = comparable(one), comparable(other)
    return one in other or other in one


def _around(text: str, sentence: Sentence, line: Line, reading: Reading) -> Named:
    """What the sentence, its message and those before it say."""
    language = sentence.language
    before = reading.lines[line.index - 1] if line.index else None
    is_own = before is not None and before.speaker == line.speaker
    whole = line.message.text[:MAX_MESSAGE_CHARS]
    checks: dict[str, bool] = {
        "question": is_question(text),
        "message asks": is_question(whole),
        "answers a question": before is not None and not is_own and is_question(before.message.text),
        "after own": is_own,
        "of news": said(language, "news").search(whole) is not None,
        "of work": said(language, "work").search(whole) is not None,
        "introduces": said(language, "here").search(text) is not None,
        "past": said(language, "past").search(text) is not None,
        "unreal": cue(language, "unreal").search(text) is not None,
        "says mine": any_cue("mine").search(text) is not None,
        "says yours": any_cue("yours").search(text) is not None,
        "says theirs": any_cue("theirs").search(text) is not None,
        "of several": len(reading.speakers) > 2,
        "by me": line.speaker.is_self,
        "first": line.index < BEGINNING,
        "first of the speaker": all(one.speaker != line.speaker for one in reading.lines[: line.index]),
        "names the speaker": any(one.person == line.speaker for one in names_in(text, reading.source.participants)),
        "with a contact": _CONTACT.search(whole) is not None,
        "after own news": is_own and before is not None and _tells_news(before),
        "only sentence": len(line.sentences) == 1,
        "short": sentence.words <= FEW_WORDS,
        "long": sentence.words > MANY_WORDS,
        "Chinese": language == "zh",
        "Russian": language == "ru",
    }
    is_told = sentence.place <= 1 and (checks["names the speaker"] or checks["introduces"])
    checks["introduces themselves"] = checks["first of the speaker"] and is_told
    return {name: 1.0 for name, holds in checks.items() if holds}


def _tells_news(line: Line) -> bool:
    return says("job_news", line.message.text) or said(line.language, "news").search(line.message.text) is not None


def _is_just_asked(kind: FactKind, line: Line, reading: Reading) -> bool:
    before = reading.lines[line.index - 1] if line.index else None
    return before is not None and before.speaker != line.speaker and says(f"may_ask_{kind}", before.message.text)


def _of_mention(mention: Mention, text: str, sentence: Sentence, line: Line, reading: Reading) -> Named:
    language = sentence.language
    cuts = [0, *(cut.end() for cut in _CLAUSE.finditer(text) if cut.end() <= mention.start)]
    ends = [cut.start() for cut in _CLAUSE.finditer(text) if cut.start() >= mention.end] + [len(text)]
    lead, tail = text[cuts[-1] : mention.start], text[mention.end : ends[0]]
    value = text[mention.start : mention.end]
    whole = line.message.text[:MAX_MESSAGE_CHARS]
    groups = {f"group {name}": 1.0 for name, word in mention.groups.items() if word and name != "value"}
    people = reading.source.participants
    checks: dict[str, bool] = {
        "unlike": said(language, "unlike").search(text[: mention.start]) is not None,
        "negated": said(language, "negated").search(text[: mention.start]) is not None,
        "copula": said(language, "copula").search(text[: mention.start]) is not None,
        "unreal around": cue(language, "unreal").search(lead + " " + tail) is not None,
        "unreal before": cue(language, "unreal").search(lead) is not None,
        "news in clause": said(language, "news").search(lead + " " + tail) is not None,
        "work in clause": said(language, "work").search(lead + " " + tail) is not None,
        "past in clause": said(language, "past").search(lead + " " + tail) is not None,
        "whole clause": not lead.strip() and not tail.strip(),
        "begins clause": not lead.strip(),
        "ends clause": not tail.strip(),
        "whole sentence": not text[: mention.start].strip() and not text[mention.end :].strip(" .!"),
        "first clause": len(cuts) == 1,
        "many words": len(value.split()) > 2 or (language == "zh" and len(value) > 5),
        "capital": value[:1].isupper() and language != "zh",
        "digits": any(map(str.isdigit, value)),
        "place": is_place(value.split()[-1] if value.split() else value) or is_place(value),
        "person": any(is_known(one) for one in names_in(value, people)),
        "asked for": asked_before(mention.kind, line, reading) != UNSAID,
        "may be asked for": asked_before(mention.kind, line, reading, "may_ask") != UNSAID,
        "just asked for": _is_just_asked(mention.kind, line, reading),
        "quoted": len(_QUOTE.findall(text[: mention.start])) % 2 == 1,
        "no group": not groups,
        "called": not groups and _is_called_out(lead, text, mention, language),
        "a word of addresses": mention.kind == "address" and said(language, "address").search(whole) is not None,
        "theirs in clause": any_cue("theirs").search(lead) is not None,
        "mine in clause": any_cue("mine").search(lead) is not None,
        "a door": mention.kind == "address" and _DOOR.search(value) is not None,
    }
    at = mention.groups.get("at")
    for person in ("first", "second", "third"):
        checks[f"{person} person"] = said(language, person).search(lead) is not None
    checks["no person"] = not any(checks[f"{person} person"] for person in ("first", "second", "third"))
    return (
        {f"by {mention.by}": 1.0}
        | groups
        | ({f"at {at.casefold()}": 1.0} if at else {})
        | {f"m {name}": 1.0 for name, holds in checks.items() if holds}
    )


def _fact(mention: Mention, way: Way, sentence: Sentence, line: Line, reading: Reading) -> FoundFact:
    whose = way.name or (way.person.name if way.person else "")
    is_here = way.person == line.speaker or any(
        part[:3].casefold() in line.message.text.casefold() for part in whose.split()
    )
    lines = (line.index,) if is_here else range(max(0, line.index - 3), line.index + 1)
    cited = tuple(i for i in lines if not reading.lines[i].is_data)
    return FoundFact(mention.kind, mention.value, way.person, 0.0, sentence, cited, way.name)
