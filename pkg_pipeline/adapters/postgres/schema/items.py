"""Tables of readings and items (B16, B17)."""

from __future__ import annotations

from sqlalchemy import ARRAY, REAL, Boolean, Date, Integer, Text, Uuid
from sqlalchemy.dialects.postgresql import JSONB

from pkg_pipeline.adapters.postgres.schema.parts import MOMENT, TEXTS, USD, check, col, index, table, to

IDS = ARRAY(Uuid)
STATUSES = "open perhaps_done done cancelled superseded"
OWNERS = "self them both other"

INTERACTION_READINGS = table(
    "interaction_readings",
    "What a conversation says of items and facts; the source of all item states.",
    col("interaction_id", Uuid, "the conversation", to("interactions", "CASCADE")),
    col("ended_at", MOMENT, "a copy: readings are made and folded in this order"),
    col("input_hash", Text, "of what the interaction said when it was read"),
    col("shown_hash", Text, "of the earlier items that the reading was shown"),
    col("is_checked", Boolean, "false: an earlier item changed; what was shown has to be compared", default="true"),
    col("prompt_version", Text, "of the prompt that read it"),
    col("model_version", Text, "of the model that read it"),
    col("schema_version", Integer, "of the answer's form", default="1"),
    col("content", JSONB, "new items, changes of earlier ones, facts; with quotes and messages"),
    col("item_ids", IDS, "of all items it names"),
    col("quarantined", JSONB, "what the gate took out, with reasons", default="'[]'"),
    col("cost_usd", USD, "its part of the cost of its call", default="0"),
    col("read_at", MOMENT, "when it was read", default="clock_timestamp()"),
    index("interaction_readings_items", "item_ids", postgresql_using="gin"),
    index("interaction_readings_unchecked", "ended_at, interaction_id", where="NOT is_checked"),
    index("interaction_readings_versions", "prompt_version, model_version, schema_version"),
    key="interaction_id",
    asset="items",
    fresh_by="read_at",
)

READING_ATTEMPTS = table(
    "reading_attempts",
    "Why a conversation was not read yet.",
    col("interaction_id", Uuid, "the conversation", to("interactions", "CASCADE")),
    col("input_hash", Text, "of what was tried: attempts at anything else do not count"),
    col("prompt_version", Text, "that it was tried with"),
    col("model_version", Text, "that it was tried with"),
    col("attempts", Integer, "that counted"),
    col("deferrals", Integer, "transport and quota trouble since the last attempt that counted", default="0"),
    col("state", Text, "tried again, or given up", one_of="waiting failed"),
    col("retry_at", MOMENT, "by the database's clock", null=True),
    col("last_error", Text, "what went wrong last"),
    col("updated_at", MOMENT, "of the last attempt", default="clock_timestamp()"),
    key="interaction_id",
    asset="items",
)

ITEMS = table(
    "items",
    "An action item or a decision as it stands now, over all conversations with its people.",
    col("id", Uuid, "hash of the chat, the quoted message and its place there"),
    col("kind", Text, "which of the two", one_of="action_item decision"),
    col("status", Text, "as it stands now; what lapsed follows from the day of reading", one_of=STATUSES),
    col("text", Text, "what is to be done or was decided"),
    col("owner", Text, "who has to do it", one_of=OWNERS),
    col("owner_entity_id", Uuid, "which of them, where it is known", null=True),
    col("owner_name", Text, "of somebody who takes no part", null=True),
    col("due_date", Date, "as it was said last", null=True),
    col("importance", Text, "high: money, deadlines, obligations", one_of="high medium low"),
    col("probability", REAL, "that the status holds, 0 to 1", check("probability BETWEEN 0 AND 1")),
    col("proposed_by", Uuid, "who proposed a decision, if it was said", null=True),
    col("agreed_by", IDS, "who agreed, if they did", default="'{}'"),
    col("superseded_by", Uuid, "the later decision on the same matter", null=True),
    col("decided_by", Text, "who settled its present state", default="'memory'", one_of="memory person"),
    col("chat_id", Uuid, "where it was said first", to("chats")),
    col("interaction_id", Uuid, "likewise"),
    col("quote", Text, "the words it rests on"),
    col("message_ids", TEXTS, "external ids of the messages it rests on"),
    col("first_at", MOMENT, "when it was said first: event time"),
    col("last_at", MOMENT, "when it was last spoken of"),
    col("settled_at", MOMENT, "when it was done, cancelled or superseded", null=True),
    col("is_withheld", Boolean, "rests on a message deleted at its source", default="false"),
    index("items_chat", "chat_id, last_at"),
    index("items_interaction", "interaction_id"),
    index("items_last", "last_at, id"),
    index("items_open", "kind, due_date", where="status IN ('open', 'perhaps_done') AND NOT is_withheld"),
    index("items_owner", "owner_entity_id"),
    index("items_superseded", "superseded_by", where="superseded_by IS NOT NULL"),
    asset="items",
)

ITEM_PEOPLE = table(
    "item_people",
    "Whom an item concerns besides me. Copies of the item, kept by triggers, order each person's items.",
    col("item_id", Uuid, "the item", to("items", "CASCADE")),
    col("entity_id", Uuid, "whom it concerns", to("entities")),
    col("kind", Text, "a copy"),
    col("importance", Text, "a copy"),
    col("due_date", Date, "a copy", null=True),
    col("first_at", MOMENT, "a copy"),
    col("last_at", MOMENT, "a copy"),
    col("settled_at", MOMENT, "a copy", null=True),
    index("item_people_entity", "entity_id, item_id"),
    index("item_people_said", "entity_id, kind, importance, first_at DESC"),
    index("item_people_standing", "entity_id, kind, last_at DESC", where="settled_at IS NULL"),
    index("item_people_due", "entity_id, due_date", where="kind = 'action_item' AND settled_at IS NULL"),
    index("item_people_settled", "entity_id, kind, settled_at", where="settled_at IS NOT NULL"),
    key="item_id entity_id",
    asset="items",
)

ITEM_STATES = table(
    "item_states",
    "The history of an item: what it was from a moment on, with the message and quote that say so.",
    col("item_id", Uuid, "the item", to("items", "CASCADE")),
    col("place", Integer, "in its history, from 0"),
    col("at", MOMENT, "event time: when that was said"),
    col(
        "event",
        Text,
        "what happened",
        one_of="opened renewed perhaps_done done cancelled superseded reopened edited closed",
    ),
    col("status", Text, "from then on", one_of=STATUSES),
    col("text", Text, "from then on"),
    col("owner", Text, "from then on", one_of=OWNERS),
    col("due_date", Date, "from then on", null=True),
    col("probability", REAL, "of this state, 0 to 1"),
    col("decided_by", Text, "messages, or a person", one_of="memory person"),
    col("superseded_by", Uuid, "the later decision", null=True),
    col("chat_id", Uuid, "where it was said; none: a person's own", to("chats"), null=True),
    col("interaction_id", Uuid, "likewise", null=True),
    col("quote", Text, "the words that say so"),
    col("message_ids", TEXTS, "external ids of the messages that say so"),
    col("is_withheld", Boolean, "rests on a message deleted at its source", default="false"),
    index("item_states_time", "item_id, at DESC, place DESC"),
    index("item_states_interaction", "interaction_id"),
    key="item_id place",
    asset="items",
)

ITEM_VERDICTS = table(
    "item_verdicts",
    "What a person decided about an item; no run overwrites it, and it outlives a rebuild.",
    col("id", Uuid, "of the verdict", default="gen_random_uuid()"),
    col("item_id", Uuid, "the item; found again by its messages if its id changed"),
    col("kind", Text, "of the item", one_of="action_item decision"),
    col("chat_id", Uuid, "where the item was said", to("chats", "CASCADE")),
    col("message_ids", TEXTS, "external ids of the messages that the item rests on"),
    col("item_text", Text, "of the item when it was decided"),
    col("action", Text, "what the person did", one_of="close reopen edit"),
    col("status", Text, "of a closed item", null=True, one_of="done cancelled"),
    col("text", Text, "the person's words for it", null=True),
    col("owner", Text, "who has to do it", null=True, one_of=OWNERS),
    col("due_date", Date, "the person's due date", null=True),
    col("clear_due_date", Boolean, "whether it is due no day any more", default="false"),
    col("decided_at", MOMENT, "by the memory's clock"),
    index("item_verdicts_item", "item_id, decided_at"),
    asset="items",
)
