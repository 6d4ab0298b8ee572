"""Tables of people, chats, messages and interactions."""

from __future__ import annotations

from sqlalchemy import ARRAY, REAL, BigInteger, Boolean, Date, Identity, Integer, Text, UniqueConstraint, Uuid, column
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import (
    KNOWN_NOW,
    MOMENT,
    NUMBERS,
    TEXTS,
    check,
    col,
    index,
    table,
    to,
    view,
)

INSTALLATION = table(
    "installation",
    "What was settled when the memory was made, such as its time zone.",
    col("key", Text, "what was settled"),
    col("value", Text, "how"),
    key="key",
    asset="messages",
)

ORGANIZATIONS = table(
    "organizations",
    "An organisation that people belong to.",
    col("id", Uuid, "hash of the name"),
    col("name", Text, "as it was said last"),
)

ENTITIES = table(
    "entities",
    "A person or an organisation; several accounts of one are merged into one of them.",
    col("id", Uuid, "hash of the identity"),
    col("type", Text, "person or organisation", default="'person'", one_of="person organization"),
    col("name", Text, "what the person is called: as somebody chose, else the name last in use on an account"),
    col("name_at", MOMENT, "when the account's name was last seen in use; the latest one wins"),
    col("is_self", Boolean, "whether this is the owner of the memory", default="false"),
    col("organization_id", Uuid, "where the person works", to("organizations"), null=True),
    col("merged_into", Uuid, "the account that stands for the person; none: this one", to("entities"), null=True),
    col("own_name", Text, "the name last in use on this account, where the person is called otherwise", null=True),
    col("chosen_name", Text, "what a person decided to call them", null=True),
    index("entities_name", "lower(name)"),
    index("entities_merged", "merged_into", where="merged_into IS NOT NULL"),
    index("entities_own_name", "lower(own_name)", where="own_name IS NOT NULL"),
    asset="messages",
)

ENTITY_IDENTITIES = table(
    "entity_identities",
    "An account on one source.",
    col("source", Text, "where the account is"),
    col("external_id", Text, "its id there"),
    col("entity_id", Uuid, "whose it is, before any merging", to("entities")),
    index("entity_identities_entity", "entity_id"),
    key="source external_id",
)

ENTITY_VERDICTS = table(
    "entity_verdicts",
    "What a person decided about who is who and what they are called; no run overwrites it, and it outlives a rebuild.",
    col("id", Uuid, "of the verdict", default="gen_random_uuid()"),
    col("decision_id", Uuid, "what was decided at once is undone at once"),
    col("action", Text, "what was decided", one_of="join part alias unalias rename dismiss"),
    col("entity_id", Uuid, "the account: of a join the one that stands for both", to("entities", "CASCADE")),
    col("other_id", Uuid, "of a join or a dismissed suggestion the other one", to("entities", "CASCADE"), null=True),
    col("name", Text, "of an alias or another name", null=True),
    col("decided_at", MOMENT, "by the memory's clock; one after the other"),
    col("kept_at", MOMENT, "by the database's clock", default="clock_timestamp()"),
    col("undone_at", MOMENT, "since when it counts no more", null=True),
    check("(other_id IS NOT NULL) = (action IN ('join', 'dismiss'))"),
    check("(name IS NOT NULL) = (action IN ('alias', 'unalias', 'rename'))"),
    index("entity_verdicts_decided", "decided_at", unique=True),
    index("entity_verdicts_decision", "decision_id"),
    index("entity_verdicts_entity", "entity_id"),
    index("entity_verdicts_other", "other_id", where="other_id IS NOT NULL"),
)

ENTITY_ALIASES = table(
    "entity_aliases",
    "Another name of somebody, as a person decided.",
    col("entity_id", Uuid, "the person", to("entities", "CASCADE")),
    col("name", Text, "what they are called, too"),
    index("entity_aliases_name", "lower(name)"),
    key="entity_id name",
)

ENTITY_FACTS = table(
    "entity_facts",
    "Something known about an entity, with its evidence and when it held.",
    col("id", Uuid, "hash of the interaction and what was said"),
    col("entity_id", Uuid, "whom it is about; none: somebody known by name only", to("entities"), null=True),
    col("about_name", Text, "what somebody who took no part is called there", null=True),
    col("told_by", Uuid, "who said it, or to whom alone the owner of the memory did", null=True),
    col("fact_type", Text, "what sort of thing is known"),
    col("value", Text, "what is known"),
    col("read_value", Text, "as it was read, where a person corrected it", null=True),
    col("confidence", REAL, "of the model, 0 to 1", check("confidence BETWEEN 0 AND 1")),
    col("status", Text, "only confirmed facts are served", one_of="candidate confirmed rejected"),
    col("decided_by", Text, "who settled its status", default="'memory'", one_of="memory person"),
    col("valid_from", MOMENT, "from when it held, as far as it is known", null=True),
    col("valid_to", MOMENT, "until when it held; none: it still does", null=True),
    col("is_ended", Boolean, "it says that the value holds no longer", default="false"),
    col("replaces", Boolean, "it takes the place of earlier values of its type", default="false"),
    col("known_from", MOMENT, "since when the memory knows it", default=KNOWN_NOW),
    col("known_to", MOMENT, "until when the memory took it for true", null=True),
    col("interaction_id", Uuid, "where it was said", null=True),
    col("quote", Text, "the words it rests on"),
    col("message_ids", TEXTS, "external ids of the messages it rests on"),
    index("entity_facts_current", "entity_id, fact_type", where="status = 'confirmed' AND valid_to IS NULL"),
    index("entity_facts_interaction", "interaction_id"),
    index("entity_facts_of_others", "told_by, lower(about_name)", where="entity_id IS NULL"),
    index("entity_facts_interval", "entity_id, valid_from DESC", where="status = 'confirmed'"),
)

CHATS = table(
    "chats",
    "One thread of messages on one source.",
    col("id", Uuid, "hash of source and external id"),
    col("source", Text, "where it is"),
    col("external_id", Text, "its id there"),
    col("kind", Text, "what sort of thread it is", one_of="direct group channel thread"),
    col("category", Text, "mass chats are not summarised; none: not said", null=True, one_of="personal work mass"),
    col("category_source", Text, "who said the category", default="'export'", one_of="export rule user"),
    col("title", Text, "as it was exported last", null=True),
    col("title_at", MOMENT, "of the latest message that was exported with the title"),
    col("metadata", JSONB, "what else the export says of it", default="'{}'"),
    col("metadata_at", MOMENT, "of the latest message exported with it", default="'0001-01-01 00:00:00+00'"),
    UniqueConstraint("source", "external_id"),
    asset="messages",
)

ELIGIBLE_CHATS = view("eligible_chats", CHATS, "id source external_id kind category")

CHAT_MEMBERS = table(
    "chat_members",
    "Who wrote in a chat.",
    col("chat_id", Uuid, "the chat", to("chats")),
    col("entity_id", Uuid, "the account that wrote in it", to("entities")),
    index("chat_members_entity", "entity_id, chat_id"),
    key="chat_id entity_id",
)

IMPORT_BATCHES = table(
    "import_batches",
    "One file taken in; when the newest one was says how fresh the conversations are.",
    col("id", Uuid, "of the import"),
    col("file", Text, "name of the file"),
    col("content_sha256", Text, "of the whole file; none until it was read to its end", null=True),
    col("format", Text, "the importer that read it"),
    col("status", Text, "how far it came", one_of="running done failed"),
    col("started_at", MOMENT, "when it began", default="clock_timestamp()"),
    col("finished_at", MOMENT, "when it ended", null=True),
    col("counts", JSONB, "rows of each sort that were new, changed or known", default="'{}'"),
    col("rejected", JSONB, "records that could not be taken: where they stand and why", default="'[]'"),
    asset="messages",
    fresh_by="finished_at",
)

CHAT_EXPORTS = table(
    "chat_exports",
    "What one export showed of one chat, so that two of them tell what was deleted in between; no text.",
    col("id", Uuid, "from the chat, the moment, the owner and the numbers"),
    col("chat_id", Uuid, "the chat", to("chats", "CASCADE")),
    col("evidence_at", MOMENT, "the latest moment that its whole file tells of"),
    col("first_number", BigInteger, "number of its first message"),
    col("last_number", BigInteger, "number of its last message"),
    col("owner", Text, "external id of the exporting account", null=True),
    col("is_whole", Boolean, "it shows every message in between"),
    col("verdict", Text, "what was made of what it lacks", default="'open'", one_of="open accepted kept"),
    col("missing", NUMBERS, "numbers in between that are known from elsewhere", default="'{}'"),
    index("chat_exports_chat", "chat_id"),
)

MESSAGES = table(
    "messages",
    "One message in a chat, as imported.",
    col("id", BigInteger, "in the order of arrival within a chat", Identity(always=False)),
    col("chat_id", Uuid, "the chat", to("chats")),
    col("sender_entity_id", Uuid, "the account that wrote it; none: nobody in particular", null=True),
    col("sent_at", MOMENT, "event time: when it was said"),
    col("imported_at", MOMENT, "import time: when it came in, by the memory's clock", default=KNOWN_NOW),
    col("exported_at", MOMENT, "as of when the file spoke; settles contradictions without an edit time"),
    col("edited_at", MOMENT, "when its words last changed at the source", null=True),
    col("deleted_at", MOMENT, "when it was noticed to be gone at its source, by the memory's clock", null=True),
    col("archived_at", MOMENT, "when its words went into the archive", null=True),
    col("token_count", Integer, "of its words"),
    col("importance_score", REAL, "0 to 1 (P16)"),
    col("is_outgoing", Boolean, "whether the owner wrote it"),
    col("is_archived", Boolean, "whether its words are in the archive", default="false"),
    col("is_time_assumed", Boolean, "whether the source had no zone and the memory's was taken", default="false"),
    col("is_blanked", Boolean, "whether the words of a deleted message are gone here as well", default="false"),
    col("is_missing", Boolean, "deleted_at follows from exports, nobody said it", default="false"),
    col("kind", Text, "said by somebody, or noted by the service", default="'message'", one_of="message service"),
    col("role", Text, "of an agent's conversation", null=True, one_of="user assistant system tool"),
    col("importance_reason", Text, "what made the score", null=True),
    col("external_id", Text, "its id at the source"),
    col("content", Text, "its words"),
    col("content_hash", Text, "of words and parts"),
    col("reply_to", Text, "external id of the message that it answers", null=True),
    col("topic", Text, "the topic of the chat that it was said in", null=True),
    col("forwarded_from", Text, "whose words it repeats", null=True),
    col("parts", JSONB, "what it holds besides words: calls of tools, results, attachments", null=True),
    col("metadata", JSONB, "what else the export says of it", null=True),
    col("archived_month", Date, "where in the archive its words are", null=True),
    col(
        "awaits_reading",
        Boolean,
        "edited since its conversation was read: what rests on it is stale (P29)",
        default="false",
    ),
    col("reworded_at", MOMENT, "when its present words came in, if others were there before", null=True),
    index("messages_chat_order", "chat_id, id"),
    index("messages_chat_time", "chat_id, sent_at, id"),
    index("messages_deleted", "chat_id, external_id", where="deleted_at IS NOT NULL"),
    index("messages_awaiting", "chat_id, external_id", where="awaits_reading"),
    index("messages_unblanked", "deleted_at", where="deleted_at IS NOT NULL AND NOT is_blanked"),
    index("messages_key", "chat_id, external_id", unique=True),
    asset="messages",
    postgresql_with={"fillfactor": "85"},
)

LIVE_MESSAGES = view(
    "live_messages",
    MESSAGES,
    " ".join(one.name for one in MESSAGES.c if one.name not in ("awaits_reading", "reworded_at")),
    column("interaction_id", Uuid()),
)

MESSAGE_TEXTS = view(
    "message_texts",
    MESSAGES,
    "id chat_id external_id sender_entity_id sent_at imported_at edited_at deleted_at token_count importance_score"
    " importance_reason is_outgoing kind role reply_to content_hash is_archived archived_at archived_month content"
    " parts",
    column("interaction_id", Uuid()),
)

MESSAGE_REVISIONS = table(
    "message_revisions",
    "A text of a message that does not stand (any more); blanked with the words of a deleted message, the hash stays.",
    col("message_id", BigInteger, "the message", to("messages", "CASCADE")),
    col("content_hash", Text, "of words and parts"),
    col("edited_at", MOMENT, "0001-01-01 where it carries no edit time"),
    col("is_deleted", Boolean, "whether this version says that the message is gone"),
    col("content", Text, "its words"),
    col("known_from", MOMENT, "when it came in, by the memory's clock", default=KNOWN_NOW),
    col("token_count", Integer, "of these words; none: not kept", null=True),
    col("importance_score", REAL, "likewise", null=True),
    key="message_id content_hash is_deleted edited_at",
)

MESSAGE_ECHOES = table(
    "message_echoes",
    "A message that repeats lines of a served block.",
    col("message_id", BigInteger, "the message", to("messages", "CASCADE")),
    col("content_hash", Text, "of the text that does: an edited message is another text"),
    col("own", ARRAY(Integer), "where the words of its own begin and end, in characters"),
    key="message_id",
)

MESSAGE_ENTITIES = table(
    "message_entities",
    "A group message that belongs to somebody: wrote it, is answered, is named, or stands next to one.",
    col("entity_id", Uuid, "to whom it belongs", to("entities")),
    col("message_id", BigInteger, "the message", to("messages", "CASCADE")),
    col("interaction_id", Uuid, "where it lies"),
    col("sent_at", MOMENT, "a copy, so that a read is one index range"),
    index("message_entities_interaction", "interaction_id"),
    index("message_entities_message", "message_id"),
    index("message_entities_time", "entity_id, sent_at DESC, message_id DESC"),
    key="entity_id message_id",
)

INTERACTIONS = table(
    "interactions",
    "A bounded stretch of one chat.",
    col("id", Uuid, "hash of the chat and the first message"),
    col("chat_id", Uuid, "the chat", to("chats")),
    col("day", Date, "partition: the local day on which it started"),
    col("started_at", MOMENT, "of its first message"),
    col("ended_at", MOMENT, "of its last message"),
    col("status", Text, "completed: a silence lies behind it", one_of="active completed"),
    col("message_count", Integer, "live messages; service entries and deleted ones do not count"),
    col("token_count", BigInteger, "of these"),
    col("language", Text, "most of it", one_of="en ru zh"),
    col("first_external_id", Text, "of its first message"),
    col("input_hash", Text, "of what it says: another one asks for another summary"),
    col("important_count", Integer, "messages with a score of 0.5 or more (P16)", default="0"),
    col("language_shares", NUMBERS, "letters of each language, in the messages that tell it", null=True),
    index("interactions_active", "ended_at", where="status = 'active'"),
    index("interactions_chat_time", "chat_id, started_at"),
    index("interactions_day", "day, ended_at"),
    asset="interactions",
)

INTERACTION_PARTICIPANTS = table(
    "interaction_participants",
    "Who took part in an interaction, and whether that is me.",
    col("interaction_id", Uuid, "the interaction", to("interactions", "CASCADE")),
    col("entity_id", Uuid, "who took part", to("entities")),
    col("role", Text, "me or somebody else", one_of="self other"),
    col("message_count", Integer, "messages of this interaction that belong to the entity (P34)"),
    col("token_count", BigInteger, "of these"),
    col("started_at", MOMENT, "a copy, so that a read is one index range"),
    col("ended_at", MOMENT, "likewise"),
    index("interaction_participants_ended", "entity_id, ended_at DESC, interaction_id"),
    index("interaction_participants_started", "entity_id, started_at", include="message_count token_count"),
    key="interaction_id entity_id",
    asset="interactions",
)

ENTITY_DAYS = table(
    "entity_days",
    "What an entity's interactions of one day hold, with running totals.",
    col("entity_id", Uuid, "the entity", to("entities", "CASCADE")),
    col("day", Date, "UTC day on which the entity's interactions started"),
    col("message_count", BigInteger, "messages of that day"),
    col("token_count", BigInteger, "of these"),
    col("messages_total", BigInteger, "running total, this day included: one row answers how much in all"),
    col("tokens_total", BigInteger, "likewise"),
    key="entity_id day",
)
