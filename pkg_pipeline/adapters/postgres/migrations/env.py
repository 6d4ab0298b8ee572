"""Alembic's entry: one transaction per upgrade, under a lock, on the DSN the caller gave."""

from alembic import context
from sqlalchemy import create_engine, pool, text

from pkg_pipeline.adapters.postgres.schema.comments import write_comments
from pkg_pipeline.adapters.postgres.schema.tables import METADATA

engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
with engine.connect() as connection:
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": context.config.attributes["lock"]})
    connection.commit()
    try:
        context.configure(connection=connection, target_metadata=METADATA, version_table_schema="pkg")
        with context.begin_transaction():
            context.run_migrations()
            write_comments(connection)
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": context.config.attributes["lock"]})
        connection.commit()
engine.dispose()
