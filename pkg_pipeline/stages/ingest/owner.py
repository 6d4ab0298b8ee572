"""Finds which sender of an export is the owner of the memory ("self")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner
from pkg_pipeline.stages.ingest.records import ExportSource


class SelfUnknown(Exception):
    """The owner cannot be determined; ``candidates`` are (external id, name, messages)."""

    def __init__(self, reason: str, candidates: Sequence[tuple[str, str, int]]) -> None:
        listed = ", ".join(f"{name} ({external_id})" for external_id, name, _ in candidates[:8])
        super().__init__(f"{reason}: pass --self NAME-OR-ID, or --self none. Candidates: {listed or 'nobody'}")
        self.candidates = list(candidates)


class NamedSelves(frozenset[tuple[str, str]]):
    """Identities named with ``--self`` (none: nobody is self); what files say does not add to them."""


def is_open(selves: frozenset[tuple[str, str]], source: str) -> bool:
    """Whether a file may decide who is self on ``source``: not after ``--self none`` or a name found there."""
    return not isinstance(selves, NamedSelves) or (bool(selves) and all(known != source for known, _ in selves))


def resolve_self(
    sources: Iterable[ExportSource], *, rule: str | None, known: Callable[[str], list[str]]
) -> frozenset[tuple[str, str]]:
    """The (source, external id) pairs that are self.

    ``rule`` is a name, an id, ``none``, or None: then the export's owner, ``is_self`` marks, the peer of a direct chat
    or an earlier import decide, and reading stops at the first of them. Raises SelfUnknown.
    """
    if rule is not None and rule.casefold() == "none":
        return NamedSelves()
    seen: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], dict[str, None]] = {}
    by_id: set[tuple[str, str]] = set()
    for source in sources:
        for identity, name, decided in _identities(source, known if rule is None else lambda _: []):
            if rule is None and decided:
                return frozenset({identity})
            if rule is not None and identity[1] == rule:
                by_id.add(identity)
                break
            seen[identity] += 1
            if name:
                names.setdefault(identity, {}).setdefault(name)
    if by_id:
        return NamedSelves(by_id)
    if rule is None:
        if not seen:
            return frozenset()
        raise SelfUnknown("the export does not say who you are", _candidates(seen, names))
    wanted = rule.strip().casefold()
    matching = [one for one in seen if any(name.strip().casefold() == wanted for name in names.get(one, ()))]
    if not matching:
        raise SelfUnknown(f"nobody here is called {rule!r}", _candidates(seen, names))
    if max(Counter(source for source, _ in matching).values()) > 1:
        of_them = Counter({identity: seen[identity] for identity in matching})
        raise SelfUnknown(f"several people are called {rule!r}", _candidates(of_them, names))
    return NamedSelves(matching)


def _candidates(
    seen: Counter[tuple[str, str]], names: Mapping[tuple[str, str], Mapping[str, None]]
) -> list[tuple[str, str, int]]:
    """(external id, first name seen, messages), most messages first."""
    return [(one[1], next(iter(names.get(one, (one[1],)))), count) for one, count in seen.most_common()]


def _identities(
    export: ExportSource, known: Callable[[str], list[str]]
) -> Iterator[tuple[tuple[str, str], str | None, bool]]:
    """(identity, name, whether it is surely self) of every sender in the file."""
    chats: dict[str, ParsedChat] = {}
    asked: dict[str, list[str]] = {}
    for item in export.items():
        if isinstance(item, ParsedOwner):
            yield (item.source, item.external_id), item.name, True
        elif isinstance(item, ParsedChat):
            chats[item.external_id] = item
            if item.source not in asked:
                asked[item.source] = known(item.source)
                for external_id in asked[item.source]:
                    yield (item.source, external_id), None, True
        elif isinstance(item, ParsedMessage) and item.sender_external_id:
            chat = chats[item.chat_external_id]
            yield (chat.source, item.sender_external_id), item.sender_name, is_surely_me(item, chat)


def is_surely_me(message: ParsedMessage, chat: ParsedChat) -> bool:
    """The export marks the sender as self, or the chat is direct and the sender is not the peer."""
    if message.is_self is not None:
        return message.is_self
    return chat.peer_external_id is not None and message.sender_external_id != chat.peer_external_id
