"""Pages of others, in the browser that a person has Dagster's pages open in: what they can read, and what they change.

Served on loopback under three origins: another port of the same name (cookies know no ports), another site, and a name
that was pointed at Dagster's own server after the page was loaded (DNS rebinding; a relay of bytes does the pointing).
"""

from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import ProxyHandler, build_opener

from faults.ground import Ground
from faults.kinds import CannotRun, Outcome, fault
from pkg_pipeline_tests.browser import running
from pkg_pipeline_tests.browser.chromium import Page, browser, executable
from pkg_pipeline_tests.browser.running import Dagster

SITE, REBOUND = "evil.example", "rebound.example"
RESOLVED = f"--host-resolver-rules=MAP {SITE} 127.0.0.1,MAP {REBOUND} 127.0.0.1"
"""Names that resolve to loopback in the browser, and nothing is asked of a name server."""
ORIGINS = ("127.0.0.1", "localhost", SITE, REBOUND)
MARK = "hostile"

SECRET_QUERY = "{ version repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }"
REFUSED = "urn:pkg-pipeline:problem:"
API_PATHS = ("/", "/docs", "/health", "/openapi.json", "/metrics", "/v1/entities", "/v1/summaries", "/v1/recall?q=boat")
COUNTING = Counter({'{method="GET",route="/metrics",status="200"}': 1})
"""What the first look at the counters counts in the second."""
STATE = (
    "{ repositoriesOrError { ... on RepositoryConnection { nodes { name location { name }"
    " schedules { name scheduleState { id status } } } } } }"
)

PAGE = b"<!doctype html><meta charset=utf-8><title>prizes</title><body>You have won."

ATTACKS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
NAVIGATIONS = {
    "go by link": "location.href = {address}",
    "go by form that posts": "(() => {{ const f = document.createElement('form'); f.method = 'post';"
    " f.action = {address}; document.body.append(f); f.submit() }})()",
    "go by replacing": "location.replace({address})",
}


@dataclass(frozen=True, slots=True)
class Targets:
    """What an attacker is told in advance: the worst case. One query for each thing to be done."""

    writes: dict[str, str]
    schedules: frozenset[str]


def targets(dagster: Dagster) -> Targets:
    """Stop a schedule, launch a run that carries ``MARK``."""
    (repository,) = running.ask(dagster, STATE)["repositoriesOrError"]["nodes"]
    state = repository["schedules"][0]["scheduleState"]
    selector = (
        f'repositoryName: "{repository["name"]}", repositoryLocationName: "{repository["location"]["name"]}",'
        ' jobName: "import_inbox"'
    )
    stop = f'mutation {{ stopRunningSchedule(id: "{state["id"]}") {{ __typename }} }}'
    launch = (
        f"mutation {{ launchRun(executionParams: {{selector: {{{selector}}},"
        f' executionMetadata: {{tags: [{{key: "{MARK}", value: "1"}}]}}}}) {{ __typename }} }}'
    )
    return Targets({"stop": stop, "launch": launch}, on(dagster))


def on(dagster: Dagster) -> frozenset[str]:
    """Schedules that are switched on."""
    (repository,) = running.ask(dagster, STATE)["repositoriesOrError"]["nodes"]
    states = {one["name"]: one["scheduleState"]["status"] for one in repository["schedules"]}
    return frozenset(name for name, status in states.items() if status == "RUNNING")


def changed(dagster: Dagster, before: Targets) -> list[str]:
    """What is not as it was."""
    found = [f"schedule {name} was stopped" for name in sorted(before.schedules - on(dagster))]
    tagged = (
        f'{{ runsOrError(filter: {{tags: [{{key: "{MARK}", value: "1"}}]}}) {{ ... on Runs {{ results {{ id }} }} }} }}'
    )
    found += [f"run {run['id']} was launched" for run in running.ask(dagster, tagged)["runsOrError"]["results"]]
    reported = (
        '{ assetOrError(assetKey: {path: ["messages"]}) { ... on Asset { assetMaterializations(limit: 20)'
        " { description } } } }"
    )
    events = running.ask(dagster, reported)["assetOrError"].get("assetMaterializations", [])
    return found + ["a materialisation was reported" for one in events if one["description"] == MARK]


@fault(
    "hostile pages in the browser",
    how="pages of another port, another site and a rebound name in the Chromium that has opened Dagster's pages: fetch,"
    " forms, frames, scripts, pictures, beacons, links, WebSockets on GraphQL, and on an API that asks for no token",
    short=1,
    full=3,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """``tries`` rounds of some hundred requests. *Lost* is what was read or let in, *doubled* what was changed."""
    if executable() is None:
        raise CannotRun("no Chromium")
    told = {"PKG_API_TOKENS": "none"}
    with (
        ground.database() as url,
        running.dev(ground.folder / "home", DATABASE_URL=url, **told) as dagster,
        browser(RESOLVED) as page,
    ):
        return attacked(dagster, page, tries)


def attacked(dagster: Dagster, page: Page, tries: int) -> Outcome:
    """The program has an API that asks for no token; afterwards one of its schedules is off."""
    outcome = Outcome(ends="refused by the head alone; the same request from Dagster's own page is answered")
    page.open(dagster.opening)
    page.wait_for(lambda: page.run("location.search") == "" and "Automation" in page.text, "the pages")
    before, answered = targets(dagster), _answered(dagster)
    script = _script(dagster, page)
    for _ in range(tries):
        for origin in ORIGINS:
            _on_pages(dagster, page, origin, before, script, outcome)
            _on_api(dagster, page, origin, outcome)
    let_in = _answered(dagster) - answered - COUNTING
    outcome.lost += let_in.total()
    outcome.wrong += [f"the API answered {count} requests of {route}" for route, count in let_in.items()]
    damage = changed(dagster, before)
    outcome.doubled += len(damage)
    outcome.wrong += damage
    page.open(dagster.opening)
    page.wait("Automation")
    if "ScheduleStateResult" not in _by_its_owner(page, before.writes["stop"]):
        outcome.wrong.append("Dagster's own page cannot do what the others tried: nothing was shown")
    return outcome


def _on_pages(dagster: Dagster, page: Page, origin: str, before: Targets, script: str, outcome: Outcome) -> None:
    with lured(page, dagster.address, origin) as base:
        _count(page, origin, outcome, "pages", base, SECRET_QUERY, before.writes, script)
    for name, query in before.writes.items():
        for way, go in NAVIGATIONS.items():
            with lured(page, dagster.address, origin) as base:
                page.run(go.format(address=json.dumps(f"{base}/graphql?query={quote(query)}")))
                page.wait_for(lambda: "You have won" not in page.text, f"{way} to {name}")
            outcome.tries += 1


def _on_api(dagster: Dagster, page: Page, origin: str, outcome: Outcome) -> None:
    with lured(page, dagster.api, origin) as base:
        _count(page, origin, outcome, "api", base, API_PATHS, {}, "")


def _count(page: Page, origin: str, outcome: Outcome, *told: object) -> None:
    answers: dict[str, str] = page.run(f"({ATTACKS})({', '.join(json.dumps(one) for one in told)})")
    outcome.tries += len(answers)
    read = {name: said for name, said in answers.items() if said and REFUSED not in said}
    outcome.lost += len(read)
    outcome.wrong += [f"a page of {origin} read by {name}: {said}" for name, said in read.items()]


def _answered(dagster: Dagster) -> Counter[str]:
    """Requests that the API has let in so far, by route."""
    with build_opener(ProxyHandler({})).open(f"{dagster.api}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return Counter(
        {
            route: int(float(count))
            for route, count in re.findall(r"^pkg_api_request_seconds_count(\{.*\}) (\S+)$", text, re.M)
        }
    )


def _by_its_owner(page: Page, stop: str) -> str:
    """The same mutation from Dagster's own page: shows that what the attacks tried is a thing that can be done."""
    asked = json.dumps({"query": stop})
    return str(
        page.run(
            "fetch('/graphql', {method: 'POST', headers: {'content-type': 'application/json'},"
            f" body: {json.dumps(asked)}}}).then(answer => answer.text())"
        )
    )


@contextmanager
def lured(page: Page, address: str, origin: str) -> Iterator[str]:
    """The tab shows the attacker's page under the name ``origin``. Yields where it reaches ``address``."""
    own = urlsplit(address)
    with evil_server(own.port or 80) as port:  # a new one each time: a connection kept open would go through
        page.open(f"http://{origin}:{port}/attack")
        page.wait("You have won")
        reached = {REBOUND: f"{REBOUND}:{port}", "localhost": f"localhost:{own.port}"}
        yield f"http://{reached.get(origin, own.netloc)}"


def _script(dagster: Dagster, page: Page) -> str:
    """The path of a script that Dagster's pages load."""
    page.open(f"{dagster.address}/runs")
    found = "[...document.scripts].map(e => e.src).find(s => s.startsWith(location.origin))"
    page.wait_for(lambda: page.run(f"!!{found}"), "a script of the pages")
    return urlsplit(page.run(found)).path


# ── the attacker's server ─────────────────────────────────────────────────────────────────────


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    target: int


class _Handler(socketserver.BaseRequestHandler):
    """Its own page at /attack; what else is sent to the rebound name goes through byte by byte, as after rebinding."""

    def handle(self) -> None:
        client: socket.socket = self.request
        client.settimeout(30)
        try:
            head = client.recv(65_536)
            if head.startswith(b"GET /attack "):
                client.sendall(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncache-control: no-store\r\nconnection: close\r\n"
                    b"content-length: %d\r\n\r\n%b" % (len(PAGE), PAGE)
                )
                return
            if f"host: {REBOUND}".encode() in head.lower():
                self._relay(client, head)
        except OSError:
            pass  # the browser went away

    def _relay(self, client: socket.socket, head: bytes) -> None:
        assert isinstance(self.server, _Server)
        with socket.create_connection(("127.0.0.1", self.server.target), timeout=30) as behind:
            behind.sendall(head)
            back = threading.Thread(target=_pump, args=(behind, client), daemon=True)
            back.start()
            _pump(client, behind)
            back.join(timeout=30)


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # either side went away


@contextmanager
def evil_server(target: int) -> Iterator[int]:
    """The attacker's port; what is not asked of the attacker reaches ``target``, Dagster's."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.target = target
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()
            thread.join(timeout=10)
