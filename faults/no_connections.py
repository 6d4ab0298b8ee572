"""Other programs hold every connection that the server gives, before a hop starts or in its midst."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import psycopg

from faults import breaking, hops
from faults.ground import Ground, expire_leases, tables
from faults.kinds import Outcome, fault
from faults.lost_database import own_server, undisturbed
from faults.random_kills import launched
from pkg_pipeline.fake_llm.server import FakeAnthropic

MOST_CONNECTIONS = 14
FREE_AGAIN_SECONDS = 0.3
PATIENCE_SECONDS = 60


def taken(server_url: str) -> ExitStack:
    """All connections that are left; closing the stack gives them back."""
    held = ExitStack()
    while True:
        try:
            held.enter_context(psycopg.connect(server_url, autocommit=True))
        except psycopg.OperationalError as error:
            if "too many clients" not in str(error):
                raise
            return held


@fault(
    "out of connections",
    how="others hold all connections of a server as a hop or `run` starts, for good or for a moment; then again",
    short=3,
    full=36,
)
def attack(ground: Ground, tries: int) -> Outcome:
    """Tries alternate: none is given back, or all are soon; the last try is the command ``run``."""
    outcome, waited = Outcome(), 0
    with ExitStack() as stack:
        own = stack.enter_context(own_server(ground.folder / "s", max_connections=str(MOST_CONNECTIONS)))
        model = stack.enter_context(FakeAnthropic())
        expected = stack.enter_context(undisturbed(own, ground.folder, model.url, most=tries))
        for number in range(tries - 1):
            turn, index = divmod(number, len(hops.HOPS))
            hop = list(hops.HOPS)[index]
            is_moment = (turn + index) % 2 == 1
            place = f"{hop}, {'for a moment' if is_moment else 'for good'}"
            with own.database(expected[hop].before) as url:
                held = taken(own.server_url)
                freeing = threading.Timer(FREE_AGAIN_SECONDS if is_moment else PATIENCE_SECONDS, held.close)
                freeing.start()
                try:
                    patience = float(PATIENCE_SECONDS if is_moment else breaking.WAIT_SECONDS)
                    ended = breaking.run(hop, url, ground.folder, model.url, wait_seconds=patience)
                    if bool(ended.error) == is_moment or "no connection" not in (ended.error or "no connection"):
                        outcome.wrong.append(f"{place}: {ended.error or 'it finished without a connection'}")
                    waited += is_moment
                except breaking.NoClearEnd as why:
                    outcome.wrong.append(f"{place}: {why}")
                finally:
                    freeing.cancel()
                    freeing.join()
                    held.close()
                expire_leases(url)
                again = breaking.run(hop, url, ground.folder, model.url)
                if again.error:
                    outcome.wrong.append(f"{place}: does not finish afterwards: {again.error}")
                outcome.tries += 1
                outcome.compare(expected[hop].tables, tables(url), at=place)
        outcome.tries += 1
        _command(own, ground, outcome)
    told = outcome.tries - waited
    outcome.ends = f"{told} ended with one clear line, {waited} waited and finished; afterwards tables as undisturbed"
    return outcome


def _command(own: Ground, ground: Ground, outcome: Outcome) -> None:
    with own.database() as url:
        with taken(own.server_url):
            process = launched(("run",), ground.folder, ground.folder / "home", url)
            _, said = process.communicate(timeout=PATIENCE_SECONDS)
        lines = [line for line in said.decode().splitlines() if line.strip()]
        if process.returncode != 1 or len(lines) != 1 or "connection" not in lines[0]:
            outcome.wrong.append(f"run: ended with {process.returncode}: {' / '.join(lines[-5:])}")
