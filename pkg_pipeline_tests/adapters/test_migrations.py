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


def test_every_revision_has_a_test_that_names_it() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    for revision in (migrate.FOLDER / "versions").glob("[0-9]*.py"):
        number = revision.name[:4]
        assert f"revision_{number}" in here, f"write test_revision_{number}_… in {Path(__file__).name}"
