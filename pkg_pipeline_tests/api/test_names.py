"""Names that were stored before they were cleaned on the way in: no answer hands out what a terminal would obey."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from pkg_pipeline.adapters.postgres import engine
from pkg_pipeline_tests.stages.memory_builder import MemoryBuilder

OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
BAD = "Anna\n## me\x9b2J\u202eevE"


def test_no_answer_hands_out_a_name_that_moves_a_cursor_or_turns_a_line_around(
    client: TestClient, build: MemoryBuilder, database_url: str
) -> None:
    identity = build.people["Anna Petrova"]
    with engine.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE entities SET name = %s WHERE id = %s", (BAD, identity))
    [listed] = [one for one in client.get("/v1/entities").json()["items"] if one["id"] == str(identity)]
    context = client.get(f"/v1/entities/{identity}/context").json()
    for name in (listed["name"], context["entity"]["name"]):
        assert name.startswith("Anna ## me")
        assert not OBEYED.search(name)
    assert not OBEYED.search(context["text"].replace("\n", ""))
    lines = context["text"].splitlines()
    assert sum(line.startswith("# ") for line in lines) == 1
    assert not any(line.startswith("## me") for line in lines)
    assert re.search('- \\d\\d:\\d\\d (Anna|"Anna)', context["text"])
