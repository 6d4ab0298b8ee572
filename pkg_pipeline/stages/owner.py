"""Who I am in an export: told, or found from what the file says, or asked for with the candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner
from pkg_pipeline.stages.message_stores import ExportSource


class SelfUnknown(Exception):
    """Nobody in the file could be told to be its owner; ``candidates`` are (external id, name, messages)."""

    def __init__(self, reason: str, candidates: Sequence[tuple[str, str, int]]) -> None:
        listed = ", ".join(f"{name} ({external_id})" for external_id, name, _ in candidates[:8])
        super().__init__(f"{reason}: pass --self NAME-OR-ID, or --self none. Candidates: {listed or 'nobody'}")
        self.candidates = list(candidates)


def resolve_self(
    sources: Iterable[ExportSource], *, rule: str | None, known: Callable[[str], list[str]]
) -> frozenset[tuple[str, str]]:
    """(source, external id) pairs that are me.

    ``rule`` is a name, an id, ``none``, or None: then the export's owner, ``is_self`` marks, the peer of a direct
    chat or an earlier import decide, and reading stops as soon as one of them does. Raises SelfUnknown.
    """
    if rule is not None and rule.casefold() == "none":
        return frozenset()
    seen: Counter[tuple[str, str]] = Counter()
    names: dict[tuple[str, str], str] = {}
    for source in sources:
        for identity, name, decided in _identities(source, known if rule is None else lambda _: []):
            if rule is None and decided:
                return frozenset({identity})
            if rule is not None and identity[1] == rule:
                return frozenset({identity})
            seen[identity] += 1
            if name:
                names[identity] = name
    candidates = [(identity[1], names.get(identity, identity[1]), count) for identity, count in seen.most_common()]
    if rule is None:
        if not seen:
            return frozenset()
        raise SelfUnknown("the export does not say who you are", candidates)
    matching = [identity for identity in seen if names.get(identity, "").casefold() == rule.casefold()]
    if not matching:
        raise SelfUnknown(f"nobody here is called {rule!r}", candidates)
    if len({identity for identity in matching if identity[0] == matching[0][0]}) > 1:
        raise SelfUnknown(
            f"several people are called {rule!r}", [c for c in candidates if c[1].casefold() == rule.casefold()]
        )
    return frozenset(matching)


def _identities(
    export: ExportSource, known: Callable[[str], list[str]]
) -> Iterator[tuple[tuple[str, str], str | None, bool]]:
    """(identity, name, whether it is surely me) for every sender that the file names."""
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
    """By the export's own mark, or because in a direct chat whoever is not the peer is me."""
    if message.is_self is not None:
        return message.is_self
    return chat.peer_external_id is not None and message.sender_external_id != chat.peer_external_id
