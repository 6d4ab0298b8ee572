"""Every revision goes up and down on a database of its own, and the version names what is there."""

from pathlib import Path

from pkg_pipeline.adapters.postgres import engine, migrate


def test_a_migrated_database_is_at_head(database_url: str) -> None:
    assert migrate.current(database_url) == migrate.head()


def test_revision_0001_goes_down_to_an_empty_schema_and_up_again(database_url: str) -> None:
    migrate.downgrade(database_url, "base")
    with engine.connect(database_url) as connection:
        left = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'pkg' ORDER BY 1"
        ).fetchall()
    assert left == [("alembic_version",)]
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()


def test_revision_0002_goes_down_and_up_and_puts_archived_texts_back(database_url: str) -> None:
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute(
            """
            INSERT INTO chats (id, source, external_id, kind, title_at)
            VALUES ('00000000-0000-0000-0000-000000000001', 's', 'c', 'direct', now());
            INSERT INTO messages (id, chat_id, sent_at, exported_at, token_count, importance_score, is_outgoing,
                external_id, content, content_hash, is_archived, archived_at, archived_month)
            VALUES (7, '00000000-0000-0000-0000-000000000001', '2020-01-05', now(), 1, 0, false, 'm', '[archived]', 'h',
                true, now(), '2020-01-01');
            CREATE TABLE archived_messages_2020_01 PARTITION OF archived_messages
                FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
            INSERT INTO archived_messages (month, message_id, chat_id, interaction_id, external_id, sent_at, content,
                content_hash)
            VALUES ('2020-01-01', 7, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002',
                'm', '2020-01-05', 'what was said', 'h')
            """
        )
        assert connection.execute("SELECT content FROM message_texts").fetchall() == [("what was said",)]
    migrate.downgrade(database_url, "0001")
    with engine.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT content, is_archived FROM messages").fetchall() == [("what was said", False)]
        assert connection.execute("SELECT to_regclass('pkg.archived_messages')").fetchone() == (None,)
    migrate.upgrade(database_url)
    assert migrate.current(database_url) == migrate.head()


def test_every_revision_has_a_test_that_names_it() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    for revision in (migrate.FOLDER / "versions").glob("[0-9]*.py"):
        number = revision.name[:4]
        assert f"revision_{number}" in here, f"write test_revision_{number}_… in {Path(__file__).name}"
