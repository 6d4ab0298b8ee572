"""A memory whose contexts are asked for in brief, over the real SDK against the local server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import SecretStr

from pkg_pipeline.stages.reads.context import EntityContext
from pkg_pipeline.wiring.memory import Memory
from pkg_pipeline_tests.adapters.llm.anthropic_rig import KEY
from pkg_pipeline_tests.stages.recall import recall_memory


@contextmanager
def opened(url: str, folder: Path, base_url: str, **settings: Any) -> Iterator[Memory]:
    paid = {"llm": "anthropic", "anthropic_api_key": SecretStr(KEY), "anthropic_base_url": base_url, "embedder": "none"}
    with recall_memory.opened(url, folder, **{**paid, **settings}) as memory:
        yield memory


def fill(memory: Memory, folder: Path) -> None:
    recall_memory.fill(memory, folder, recall_memory.lines())


def person(memory: Memory, name: str = "Anna Petrova") -> UUID:
    (found,) = memory.reads.entities_named(name, exact=True, limit=2)
    return found.id


def asked(memory: Memory, name: str = "Anna Petrova", **more: Any) -> EntityContext:
    return memory.context(person(memory, name), **{"max_tokens": None, "as_of": None, "brief": True, **more})
