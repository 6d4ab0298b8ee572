"""Scripted misbehaviour of the local server: which call it strikes and what happens then. Data and matching only.

A script is a JSON list of rules, tried in order; the first that fits is used::

    [{"call": 2, "status": 529, "times": 1},
     {"contains": "IBAN", "status": 429, "headers": {"retry-after": "3600"}},
     {"path": "/v1/messages", "answer": "invented_quote"}]
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

Drop = Literal["before", "half"]


class ScriptError(ValueError):
    """A script that cannot be read; the message says which rule and why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One rule: the first four fields are conditions, the others effects.

    ``call``: number over all paths from 1; ``contains``: in the request's text; ``times``: most uses. ``answer``: a
    mode (``answers.MODES``, ``embeddings.MANNERS``); ``drop`` closes the socket; ``cut_body`` sends half of the JSON;
    ``body`` replaces the answer; ``usage`` replaces the reported usage, not the journal's.
    """

    call: int | None = None
    contains: str | None = None
    path: str | None = None
    times: int | None = None
    status: int | None = None
    error_type: str | None = None
    error_code: str | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay_seconds: float = 0.0
    drop: Drop | None = None
    cut_body: bool = False
    html: bool = False
    body: Any = None
    answer: str | None = None
    stop_reason: str | None = None
    stop_details: Mapping[str, Any] | None = None
    without_usage: bool = False
    usage: Mapping[str, Any] | None = None
    batch_result: Literal["errored", "canceled", "expired"] | None = None

    def fits(self, *, call: int, path: str, text: str) -> bool:
        return (
            (self.call is None or self.call == call)
            and (self.path is None or self.path == path)
            and (self.contains is None or self.contains in text)
        )


class Script:
    """The rules with their counts. Thread-safe."""

    def __init__(self, rules: Sequence[Fault] = ()) -> None:
        self._lock = threading.Lock()
        self._rules = list(rules)
        self._struck = [0] * len(self._rules)

    def replace(self, rules: Sequence[Fault]) -> None:
        with self._lock:
            self._rules = list(rules)
            self._struck = [0] * len(self._rules)

    def match(self, *, call: int, path: str, text: str) -> Fault:
        """The rule for this call, or an empty one."""
        with self._lock:
            for index, rule in enumerate(self._rules):
                exhausted = rule.times is not None and self._struck[index] >= rule.times
                if not exhausted and rule.fits(call=call, path=path, text=text):
                    self._struck[index] += 1
                    return rule
        return Fault()


def parse_rules(document: object) -> list[Fault]:
    """Rules from JSON data. ``ScriptError``."""
    if not isinstance(document, list):
        raise ScriptError("a script is a list of rules")
    known = {entry.name for entry in fields(Fault)}
    rules: list[Fault] = []
    for number, rule in enumerate(document, start=1):
        if not isinstance(rule, dict) or not set(rule) <= known:
            raise ScriptError(f"rule {number} is no object of {', '.join(sorted(known))}")
        rules.append(Fault(**rule))
    return rules


def read_script(path: Path) -> list[Fault]:
    """Rules from a JSON file. ``ScriptError``."""
    try:
        return parse_rules(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ScriptError(f"{path.name}: {error}") from error
