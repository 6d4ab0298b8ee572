"""A live summary and a fact, written by SQL as the stages leave them."""

from __future__ import annotations

from uuid import UUID, uuid5

from pkg_pipeline_tests.stages.ingest.import_rig import Rig

SPACE = UUID("4c1f6f0e-6a44-4b52-9a39-0d3f7d1a2b10")


def add_summary(rig: Rig, interaction: UUID, *, fact_on: str, about: str = "bob") -> UUID:
    """The fact concerns ``about`` and rests on the message ``fact_on``."""
    summary = uuid5(SPACE, str(interaction))
    entity = rig.value("SELECT entity_id FROM entity_identities WHERE external_id = %s", about)
    with rig.connection() as connection:
        connection.execute(
            "INSERT INTO interaction_summaries (id, interaction_id, status, input_hash, prompt_version, model_version,"
            " language, summary, message_ids, message_count, source_token_count, summary_token_count,"
            " compression_ratio, cost_usd, generation_seconds)"
            " SELECT %s, id, 'completed', input_hash,"
            " 'p', 'offline', 'en', 'They agreed.', '{}', message_count, 9, 3, 3, 0, 0"
            " FROM interactions WHERE id = %s",
            (summary, interaction),
        )
        connection.execute(
            "INSERT INTO entity_facts (id, entity_id, fact_type, value, confidence, status, interaction_id,"
            " quote, message_ids) VALUES (%s, %s, 'city', 'Riga', 0.9, 'confirmed', %s, 'Riga', %s)",
            (uuid5(summary, "fact"), entity, interaction, [fact_on]),
        )
    return summary
