"""What the cited words prove of an item: that it binds or settles, was done, given up or renewed (B16, B18)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pkg_pipeline.memory.gate.agents import shows, sign_in
from pkg_pipeline.memory.gate.checker import Evidence
from pkg_pipeline.memory.gate.duty import has, parts_of, says_no
from pkg_pipeline.memory.gate.naming import is_known, name_keys, names_in, others_named
from pkg_pipeline.memory.gate.nearest import is_question, meant
from pkg_pipeline.memory.gate.number_words import folded
from pkg_pipeline.memory.gate.polarity import polarity
from pkg_pipeline.memory.gate.progress import (
    accepts,
    acknowledging,
    is_no_duty,
    may_renew,
    only_prepares,
    says_cancelled,
    says_done,
    settles,
    tells_completed,
    touched,
    was_put_off,
)
from pkg_pipeline.memory.gate.wording import content
from pkg_pipeline.memory.items.completion import is_completed
from pkg_pipeline.memory.items.giving_up import is_given_up, is_put_off
from pkg_pipeline.memory.items.matter import Matter, is_asked_for, is_spoken_of, matter_of
from pkg_pipeline.memory.items.proposals import not_taken_up, with_whole_clauses
from pkg_pipeline.memory.items.records import CandidateChange, CandidateItem, ReadingInput, ShownItem
from pkg_pipeline.memory.items.results import shows_result
from pkg_pipeline.memory.items.same_thing import ends_another
from pkg_pipeline.memory.languages import folders, table
from pkg_pipeline.memory.languages.scripts import is_han
from pkg_pipeline.memory.records import Person, SourceMessage

ANOTHER = "tells of another matter"
NOT_DONE = "is not said to be done by the messages that it cites"


def unsettled(kind: str, text: str, evidence: Evidence, talk: Sequence[SourceMessage]) -> str | None:
    """Why messages settle no decision and bind nobody to an action item, or None. ``text``: of the item."""
    evidence = with_whole_clauses(evidence)
    if (reason := not_taken_up(evidence, talk)) is not None:
        return reason
    said = polarity(text)
    is_against = said.denies or said.refuses
    if not is_against and (_only_denies(kind, text, evidence.quote) or _is_answered_no(text, evidence)):
        return "was refused"
    if not is_against and _is_unaccepted(evidence):
        return "was only asked"
    if kind == "decision":
        is_refused = is_against and any(map(says_no, evidence.messages[1:]))
        return None if is_refused else settles(evidence.messages, evidence.quoted, evidence.quote, talk)
    if not is_against and _is_refused(evidence.messages[-1]):
        return "was refused"
    return "was asked and put off" if was_put_off(evidence.messages) else is_no_duty(evidence.quote, evidence.messages)


def _only_denies(kind: str, text: str, quote: str) -> bool:
    """Whether each part of a quote denies or refuses, and none asks, makes a condition or tells what is still due.

    Or whether the first does, and the others say nothing of ``text`` nor, where it is a task, promise anything.
    """
    parts = [part for part in parts_of(quote) if not has("received", part)]
    if not parts or any(has(sign, quote) for sign in ("ask", "condition", "not_yet", "undone")):
        return False
    rest = [part for part in parts if not _denies(part)]
    is_task = kind == "action_item"
    is_bound = any((is_task and has("promise", part)) or meant(part) & meant(text) for part in rest)
    return not rest or (_denies(parts[0]) and not is_bound)


def _is_answered_no(text: str, evidence: Evidence) -> bool:
    """Whether the last word is another's no to what is quoted, and puts nothing instead that ``text`` tells."""
    quoted, last = evidence.quoted, evidence.messages[-1]
    if last.sender == quoted.sender or not says_no(last):
        return False
    parts = [part for part in parts_of(last.text) if not has("received", part)]
    if has("condition", parts[0]):
        return False
    puts = frozenset(one for part in parts if not _denies(part) for one in meant(part))
    return not (meant(text) - meant(quoted.text)) & puts


def _is_unaccepted(evidence: Evidence) -> bool:
    """Whether what is quoted only asks, and nobody of the others who answer accepts or does it."""
    quoted = evidence.quoted
    asked = touched([quoted], evidence.quote)
    is_bound = has("promise", evidence.quote) or shows("first_verb", evidence.quote)
    if is_bound or not asked or not all(map(is_question, asked)):
        return False
    answers = [m for m in evidence.messages if m.number > quoted.number and m.sender != quoted.sender]
    return bool(answers) and not any(map(accepts, answers))


def _denies(part: str) -> bool:
    said = polarity(part)
    return said.denies or said.refuses or has("refusal", part)


def _is_refused(last: SourceMessage) -> bool:
    """Whether a last word only denies or refuses, and promises or asks for nothing."""
    parts = [part for part in parts_of(last.text) if not has("received", part)]
    if not parts or not _denies(parts[0]) or has("not_yet", last.text):
        return False
    is_bound = any(has(sign, last.text) for sign in ("promise", "ask", "agrees", "completed", "others_will"))
    puts = any(polarity(part).plain for part in parts[1:] if not has("condition", part) and not has("unreal", part))
    return not is_bound and not puts and not has("supposed", parts[0])


def unproven(state: str, evidence: Evidence, matter: str, talk: Sequence[SourceMessage]) -> str | None:
    """Why messages do not prove what is said to have become of an item, or None. ``matter``: its words."""
    if state == "done" and not says_done(evidence.messages, evidence.quote, talk, matter):
        return NOT_DONE
    if state == "cancelled" and not says_cancelled(evidence.messages, evidence.quote, matter):
        return "is not said to be cancelled by the messages that it cites"
    if state == "renewed" and not may_renew(evidence.quote):
        return "is said to be done by the messages that it cites"
    return None


def untold(evidence: Evidence, matter: str) -> str | None:
    """Why words that make an item do not end it at once, or None: they do not tell outright that it was completed.

    ``matter``: the item's words; what only leads up to it ends nothing.
    """
    wanted = content(matter)
    parts = [part for message in evidence.messages for part in parts_of(message.text)]
    told = any(tells_completed(part) and not only_prepares(part, wanted) for part in parts)
    if told or any(message.attachments for message in evidence.messages):
        return None
    return NOT_DONE


def unended(item: CandidateItem, evidence: Evidence, last: SourceMessage, talk: Sequence[SourceMessage]) -> str | None:
    """Why words behind an item do not show that it was done, or None. ``last``: the message that they quote."""
    people = tuple(dict.fromkeys(message.sender for message in talk))
    matter = matter_of((item.text, item.quote), last.sent_at.date(), people)
    is_owners = item.owner not in ("self", "them") or (item.owner == "self") == last.sender.is_self
    if shows_result(matter, (), evidence, last, talk, people):
        return None
    return None if is_completed(matter, evidence, last, talk, is_owners=is_owners) else NOT_DONE


def _is_of_others(sentence: str, source: ReadingInput, matter: Matter) -> bool:
    """Whether a sentence is about what belongs to somebody who takes no part ("Bob sent his lease")."""
    people = tuple(dict.fromkeys(person for talk in source.talks for person in talk.participants))
    named = [one for one in names_in(sentence, people) if one.person is None and is_known(one)]
    plain = folded(sentence)
    own = [table(language, "agents")["of_another"] for language in folders("agents")]
    is_theirs = any(re.search(one, plain) for one in own)
    if is_theirs and sign_in("kin", sentence) is not None:
        return True
    kin = (sign_in(sign, part) for part in parts_of(sentence) for sign in ("of_kin", "for_kin"))
    if any(one is not None and not content(one.group()) & matter.meanings for one in kin):
        return True
    by_name = [table(language, "agents")["of_another"] for language in ("en", "ru")]
    is_named = any(re.search(one, plain) for one in by_name)
    return any(is_named or sentence[one.end :].startswith(("的", "'s ", "’s ")) for one in named)


def _is_own_deed(part: str) -> bool:
    """Whether a clause tells what its writer does, has done or gives."""
    is_report = shows("reports", part) and not is_han(part[:1]) and not has("received", part)
    return shows("first", part) or (is_report and has("hands_over", part))


def _goes_to_another(part: str, matter: Matter, people: tuple[Person, ...]) -> bool:
    """Whether a clause tells of giving by or to somebody who takes no part and is not of the matter."""
    if not (has("hands_over", part) and has("hands_over", matter.words)):
        return False
    meant_for = others_named((matter.words,), people)
    named = [one for one in names_in(part, people, meant_for) if one.person is None and is_known(one)]
    known = frozenset(key for name in meant_for for key in name_keys(name))
    is_told = sign_in("to_whom", part)
    if is_told is not None and not content(is_told.group()) & content(matter.words) - matter.names:
        return True
    return any(not name_keys(one.word) & known and one.word not in matter.words for one in named)


def of_another(
    change: CandidateChange, shown: ShownItem, evidence: Evidence, quoted: SourceMessage, source: ReadingInput
) -> str | None:
    """Why the quoted words are of another matter (another shown item, or the same deed to another thing), or None."""
    people = tuple(dict.fromkeys(person for talk in source.talks for person in talk.participants))
    names = content(" ".join(person.name for person in people))
    words, said = touched([quoted], evidence.quote), meant(evidence.quote) - names - acknowledging()
    matter = matter_of((shown.text, shown.quote), quoted.sent_at.date(), people)

    def shared(item: ShownItem) -> frozenset[str]:
        return said & meant(f"{item.text} {item.quote}")

    others = [f"{one.text} {one.quote}" for one in source.shown if one.ref != shown.ref]
    is_result = change.to == "done" and shows_result(matter, others, evidence, quoted, source.messages, people)
    is_result = is_result and not any(_is_of_others(one, source, matter) for one in words)
    is_known = is_result or change.to == "cancelled"
    if not is_known and not is_spoken_of(matter, evidence.quote, quoted, source.messages):
        return ANOTHER
    if change.to == "cancelled":
        owner = next((one for one in people if one.entity_id == shown.owner_entity_id), None)
        return None if is_given_up(matter, evidence, quoted, people, owner) else ANOTHER
    if change.to == "renewed":
        is_theirs = any(_is_of_others(one, source, matter) for one in words)
        is_moved = not is_theirs and is_put_off(matter, evidence.quote, quoted, source.messages)
        return None if is_moved else ANOTHER
    if is_result:
        return None
    if (reason := unproven("done", evidence, f"{shown.text} {shown.quote}", source.messages)) is not None:
        return reason
    is_apart = any(has("apart", one) for one in words)
    is_named = is_apart or any(len(shared(one)) > 1 for one in source.shown)
    is_asked = is_asked_for(matter, quoted, source.messages)
    is_other = not is_asked and ends_another(
        f"{shown.text} {shown.quote}", shown.said_at.date(), evidence.quote, quoted.sent_at.date(), names
    )
    is_owners = shown.owner not in ("self", "them") or (shown.owner == "self") == quoted.sender.is_self
    if not is_owners and any(map(_is_own_deed, parts_of(evidence.quote))):
        return ANOTHER
    if not is_completed(matter, evidence, quoted, source.messages, is_owners=is_owners):
        return NOT_DONE
    if (
        (is_named and not shared(shown))
        or (not is_asked and matter.only_belongs_in(evidence.quote))
        or any(_is_of_others(one, source, matter) for one in words)
        or any(_goes_to_another(part, matter, people) for part in parts_of(evidence.quote))
        or is_other
    ):
        return ANOTHER
    return None
