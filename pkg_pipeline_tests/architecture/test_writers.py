"""Each table has one writing stage: which SQL file may insert, update or delete, table by table."""

from __future__ import annotations

import re
from pathlib import Path

import pkg_pipeline

POSTGRES = Path(pkg_pipeline.__file__).parent / "adapters" / "postgres"
WRITES = re.compile(
    r"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+(?:ONLY\s+)?(?:pkg\.)?([a-z_]+)\b", re.IGNORECASE
)
CREATED = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)", re.MULTILINE)

THROUGH = {
    "UPDATE live_summaries": ["interaction_summaries"],
    "take_leases(": ["leases"],
    "remove_copies(": ["archived_messages", "archive_months"],
}
"""What the schema's views and functions write for those who use them."""

GONE = {"summary_items"}
"""Tables that a later revision takes away."""

WRITERS: dict[str, set[str]] = {
    "installation": {"work"},
    "past_versions": {"erasing", "forgetting"},
    "organizations": {"facts", "forgetting"},
    "entities": {"forgetting", "erasing", "facts", "ingest", "people"},
    "entity_verdicts": {"people"},
    "entity_aliases": {"people"},
    "entity_identities": {"forgetting", "erasing", "ingest"},
    "entity_facts": {"forgetting", "facts", "ingest", "interactions", "rebuilding"},
    "chats": {"erasing", "ingest", "interactions"},
    "chat_members": {"forgetting", "erasing", "ingest"},
    "import_batches": {"erasing", "ingest"},
    "chat_exports": {"deletions", "ingest"},
    "messages": {"forgetting", "erasing", "appending", "archive", "deletions", "ingest", "readings"},
    "message_revisions": {"archive", "ingest"},
    "message_entities": {"forgetting", "interactions"},
    "interactions": {"erasing", "interactions"},
    "interaction_participants": {"forgetting", "interactions"},
    "entity_days": {"interactions"},
    "interaction_summaries": {"erasing", "ingest", "interactions", "people", "summaries", "rebuilding"},
    "interaction_readings": {"forgetting", "people", "readings", "rebuilding"},
    "reading_attempts": {"forgetting", "readings", "rebuilding"},
    "items": {"ingest", "items", "rebuilding"},
    "item_people": {"forgetting", "items"},
    "item_states": {"ingest", "items"},
    "fact_verdicts": {"erasing", "fact_verdicts", "forgetting"},
    "item_verdicts": {"forgetting", "verdicts"},
    "summary_attempts": {"erasing", "interactions", "summaries", "rebuilding"},
    "llm_calls": {"budgets", "erasing", "ledger"},  # the budget's: what a process that died may have spent
    "llm_call_subjects": {"budgets", "erasing", "ledger"},
    "budgets": {"budgets"},
    "budget_reservations": {"budgets"},
    "llm_batches": {"batches"},
    "llm_batch_items": {"batches", "erasing"},
    "llm_batch_subjects": {"batches", "erasing"},
    "leases": {"erasing", "folds", "leases", "summaries"},
    "dirty_partitions": {
        "forgetting",
        "erasing",
        "appending",
        "archive",
        "chunks",
        "folds",
        "ingest",
        "interactions",
        "items",
        "partitions",
        "people",
        "profiles",
        "readings",
        "summaries",
        "rebuilding",
    },
    "partition_states": {"partitions"},
    "unreported_work": {"work"},
    "served_lines": {"erasing", "echoes"},
    "message_echoes": {"echoes"},
    "context_receipts": {"forgetting", "erasing", "receipts"},
    "entity_relationship_profiles": {"forgetting", "erasing", "people", "profiles", "rebuilding"},
    "profile_attempts": {"forgetting", "erasing", "profiles", "rebuilding"},
    "archived_messages": {"forgetting", "erasing", "archive", "ingest"},
    "archive_months": {"forgetting", "erasing", "archive", "ingest"},
    "archive_holds": {"erasing", "archive"},
    "backfills": {"backfills"},
    "day_statistics": {"monitoring"},
    "day_statistics_marks": {"monitoring"},
    "ledger_statistics": {"monitoring"},
    "ledger_statistics_marks": {"monitoring"},
    "backfill_interactions": {"erasing", "backfills"},
    "embedding_spaces": {"spaces"},
    "memory_chunks": {"chunks", "people"},
    "chunk_embeddings": {"people", "vectors"},
    "chunk_codes": {"people", "vectors"},
    "chunk_scopes": {"vectors"},
    "chunk_terms": {"chunks"},
    "speaker_terms": {"chunks", "people"},
    "conversation_sessions": {"forgetting", "erasing", "appending", "folds", "sessions"},
    "session_summaries": {"forgetting", "appending", "folds"},
    "memory_topics": {"forgetting", "folds"},
    "served_windows": {"served_windows"},
    "erasures": {"forgetting"},
    "tombstones": {"forgetting"},
    "chunk_states": {"chunks", "people", "spaces", "rebuilding"},  # a space takes along what says that it is complete
}
"""Table → the files of statements that may write it. A new line here is a decision, not a formality.

What rests on a deleted message is withheld at once (P29), and an interaction that was cut anew takes what hangs on it
along: so the earlier stages reach into the tables of summaries, to withhold and to move, never to say anything. So does
who is who: what moves with an account moves at once (B20).
"""


def tables() -> set[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in (POSTGRES / "migrations" / "versions").glob("*.sql"))
    return set(CREATED.findall(text)) - GONE


def code(path: Path) -> str:
    return "\n".join(line.partition("--")[0] for line in path.read_text(encoding="utf-8").splitlines())


def written() -> dict[str, set[str]]:
    known, found = tables(), dict[str, set[str]]()
    for path in POSTGRES.glob("*/*.sql"):
        # FOR UPDATE OF x and ON CONFLICT DO UPDATE SET write nothing of that name
        text = re.sub(r"\b(?:FOR\s+(?:NO\s+KEY\s+)?UPDATE|DO\s+UPDATE)\b", "", code(path), flags=re.IGNORECASE)
        for table in WRITES.findall(text):
            if table.lower() in known:
                found.setdefault(table.lower(), set()).add(path.stem)
        for table in (table for used, several in THROUGH.items() if used in text for table in several):
            found.setdefault(table, set()).add(path.stem)
    return found


def test_every_table_is_on_the_list() -> None:
    assert tables() == set(WRITERS)


def test_no_file_writes_a_table_that_is_not_its_own() -> None:
    assert {table: files - WRITERS[table] for table, files in written().items() if files - WRITERS[table]} == {}


def test_the_list_allows_nothing_that_is_not_needed() -> None:
    found = written()
    assert {table: files - found.get(table, set()) for table, files in WRITERS.items()} == {
        table: set() for table in WRITERS
    }


def test_what_is_read_by_the_api_writes_nothing() -> None:
    for file in ("context", "history", "windows"):
        assert not [table for table, files in written().items() if file in files]
