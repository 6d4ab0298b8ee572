"""doctor: what is in force, from where, and what is wrong; never a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from pkg_pipeline.fake_llm.faults import Fault
from pkg_pipeline.fake_llm.server import FakeAnthropic
from pkg_pipeline_tests.cli.processes import Program

SECRETS = {
    "ANTHROPIC_API_KEY": "sk-very-secret-1",
    "ANTHROPIC_BASE_URL": "https://user:very-secret-2@model.example/v1",
    "PKG_API_TOKENS": "me:read:" + "5ec2e7" * 10 + "abcd",
}


def settings_file(program: Program, text: str) -> Path:
    program.home.mkdir(parents=True, exist_ok=True)
    file = program.home / "pkg.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_fresh_home_is_well_and_nothing_is_made(program: Program) -> None:
    said = program.ok("doctor", "--json").json
    assert said["problems"] == []
    assert any("no database yet" in remark for remark in said["remarks"])
    assert said["llm"]["kind"] == "offline"
    assert said["llm"]["leaves_the_machine"] == "nothing"
    assert not program.home.exists()


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_an_address_that_nothing_is_sent_to_is_remarked(program: Program, name: str) -> None:
    address = {f"{name.upper()}_BASE_URL": "http://127.0.0.1:9"}
    said = program.ok("doctor", "--json", **address).json
    assert said["llm"]["kind"] == "offline"
    assert [remark for remark in said["remarks"] if f"PKG_LLM={name}" in remark]
    assert not [
        remark
        for remark in program.ok("doctor", "--json", PKG_LLM="offline", **address).json["remarks"]
        if name in remark
    ]


def test_the_models_time_window_and_price_are_shown_as_set(program: Program) -> None:
    own = {"PKG_LLM_MODEL": "local-7b", "PKG_LLM_PRICE": "1.5/7.5", "PKG_LLM_WINDOW_TOKENS": "32000"}
    said = program("doctor", "--json", ANTHROPIC_API_KEY="any", PKG_LLM_TIMEOUT_SECONDS="90", **own).json
    shown = {name: said["llm"][name] for name in said["llm"] if name not in ("kind", "leaves_the_machine")}
    assert shown == {
        "model": "local-7b",
        "window_tokens": 32000,
        "timeout_seconds": 90,
        "message_batches": "for backfills of 50 calls and more",
        "usd_per_million_in": 1.5,
        "usd_per_million_out": 7.5,
    }
    without = program("doctor", "--json", ANTHROPIC_API_KEY="any", PKG_LLM_MODEL="local-7b")
    assert "PKG_LLM_PRICE" in without.json["problems"][0]
    refused = program("doctor", "--json", ANTHROPIC_API_KEY="any", PKG_LLM_PRICE="cheap")
    assert refused.code == 1


def test_every_setting_says_where_it_came_from(given: Program) -> None:
    file = settings_file(given, 'hot_days = 5\nwarm_summaries = 4\ntimezone = "Asia/Shanghai"\n')
    said = given.ok("doctor", "--json", PKG_WARM_SUMMARIES="6", PKG_TIMEZONE="UTC").json
    found = {name: (entry["value"], entry["from"]) for name, entry in said["settings"].items()}
    assert found["hot_days"] == (5, str(file))
    assert found["warm_summaries"] == (6, "PKG_WARM_SUMMARIES")
    assert found["timezone"] == ("UTC", "PKG_TIMEZONE")
    assert found["warm_days"] == (90, "default")
    assert found["database_url"] == ("set, not shown", "DATABASE_URL")
    assert said["database"]["revision"] == said["database"]["head"]
    shown = given.ok("doctor", PKG_TIMEZONE="UTC").out
    assert str(file) in shown
    assert "nothing is wrong" in shown


@pytest.mark.parametrize(
    ("text", "variables", "words"),
    [
        ("hot_days = 'many'\n", {}, ("hot_days in ", "pkg.toml", "number")),
        ("hot_dayz = 5\n", {}, ("pkg.toml", "hot_dayz", "did you mean hot_days?")),
        ("hot_days = \n", {}, ("pkg.toml", "line 1")),
        ("home = '/elsewhere'\n", {}, ("pkg.toml", "PKG_HOME")),
        ("hot_days = 100\n", {}, ("hot_days in ", "PKG_WARM_DAYS", "less than")),
        ("", {"PKG_HOT_DAYS": "0"}, ("PKG_HOT_DAYS", "greater than 0")),
        ("", {"PKG_TIMEZONE": "Europe/Atlantis"}, ("PKG_TIMEZONE", "Europe/Atlantis", "IANA")),
        ("", {"PKG_NOW": "soon"}, ("PKG_NOW",)),
        ("", {"PKG_NOW": "2999-01-01T00:00:00+00:00"}, ("PKG_NOW", "future")),
        ("", {"PKG_LLM": "magic"}, ("PKG_LLM", "offline")),
        ("", {"PKG_LLM": "anthropic"}, ("ANTHROPIC_API_KEY",)),
        ("", {"PKG_API_PORT": "70000"}, ("PKG_API_PORT",)),
        ("", {"DATABASE_URL": "mysql://x"}, ("DATABASE_URL", "postgresql://")),
    ],
)
def test_what_is_wrong_is_named(program: Program, text: str, variables: dict[str, str], words: tuple[str, ...]) -> None:
    settings_file(program, text)
    said = program("doctor", "--json", **variables)
    assert said.code == 1
    (problem,) = said.json["problems"]
    for word in words:
        assert word in problem, (word, problem)
    assert problem in " ".join(program("doctor", **variables).out.split("\n"))


def test_a_misspelt_variable_is_remarked(given: Program) -> None:
    remarks = given.ok("doctor", "--json", PKG_TIMEZON="UTC").json["remarks"]
    assert any(
        "PKG_TIMEZON is not known" in one or "PKG_TIMEZON (did you mean PKG_TIMEZONE?)" in one for one in remarks
    )


def test_another_time_zone_than_the_memory_was_made_with(given: Program) -> None:
    given.ok("init")
    said = given("doctor", "--json", PKG_TIMEZONE="Asia/Tokyo")
    assert said.code == 1
    assert any("PKG_TIMEZONE" in problem and "UTC" in problem for problem in said.json["problems"])
    given("init", PKG_TIMEZONE="Asia/Tokyo").failed("PKG_TIMEZONE", "UTC")


def test_no_secret_is_printed(given: Program) -> None:
    for arguments in (("doctor",), ("doctor", "--json")):
        said = given(*arguments, **SECRETS)
        for secret in ("very-secret", "5ec2e7", "sk-very"):
            assert secret not in said.out + said.err
        assert "set, not shown" in said.out
        assert "model.example" in said.out


def test_a_home_that_others_can_read_is_closed_and_told(given: Program) -> None:
    file = settings_file(given, "hot_days = 5\n")
    given.home.chmod(0o755)
    file.chmod(0o644)
    said = given.ok("doctor", "--json").json
    assert said["home_access"] == "this user alone"
    assert [one for one in said["remarks"] if "until now" in one and str(file) in one] != []
    assert (given.home.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    shown = given.ok("doctor").out
    assert "until now" not in shown
    assert "home access this user alone" in shown


def test_what_a_link_leads_to_is_for_its_owner_to_close(given: Program) -> None:
    elsewhere = settings_file(given, "hot_days = 5\n").rename(given.home.parent / "dotfiles.toml")
    (given.home / "pkg.toml").symlink_to(elsewhere)
    (given.home / "notes").mkdir()
    for path in (given.home, elsewhere):
        path.chmod(0o755)
    said = given("doctor", "--json")
    assert said.code == 1
    assert said.json["problems"] == [
        f"other users of this machine may read what lies in PKG_HOME: chmod go= {given.home / 'pkg.toml'}"
    ]


def test_a_model_server_of_ones_own_is_asked_whether_it_can_do_the_work(program: Program) -> None:
    with FakeAnthropic(takes_schema=False, reads_tokens=4_000) as fake:
        own = {"PKG_LLM": "openai", "PKG_LLM_MODEL": "local-7b", "OPENAI_BASE_URL": f"{fake.url}/v1"}
        said = program.ok("doctor", "--json", **own).json
        assert (said["llm"]["kind"], said["llm"]["usd_per_million_in"]) == ("openai", 0)
        assert said["llm"]["probe"]["seconds"] >= 0
        assert any("--probe" in remark for remark in said["remarks"])
        cut = program("doctor", "--probe", "--json", **own)
        assert cut.code == 1
        assert "larger context" in cut.json["problems"][0]
        fake.script.replace([Fault(answer="prose")])
        assert "does not answer in the JSON" in program("doctor", "--json", **own).json["problems"][0]
        fake.script.replace([Fault(status=404)])
        assert "the service answered 404" in program("doctor", "--json", **own).json["problems"][0]
        paid = program.ok("doctor", "--json", OPENAI_API_KEY="sk-secret-9", PKG_LLM_PRICE="1/4", **own)
        assert "probe" not in paid.json["llm"]  # what may cost something is not asked
        assert "sk-secret-9" not in paid.out
    nameless = program("doctor", "--json", PKG_LLM="openai", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
    assert "PKG_LLM_MODEL is not set" in nameless.json["problems"][0]
    keyless = program("doctor", "--json", PKG_LLM="anthropic")
    assert "ANTHROPIC_BASE_URL for a server without keys" in keyless.json["problems"][0]
