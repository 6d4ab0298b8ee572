"""``python -m pkg_pipeline.fake_llm --port 8089 --script faults.json``: the local server until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pkg_pipeline.fake_llm.faults import ScriptError, read_script
from pkg_pipeline.fake_llm.server import FakeAnthropic


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pkg_pipeline.fake_llm", description=__doc__)
    parser.add_argument("--port", type=int, default=8089, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="JSON list of fault rules")
    parser.add_argument("--key", help="the only key that is let in; without it any is")
    parser.add_argument("--polls", type=int, default=1, help="how often a batch is asked for before it has ended")
    options = parser.parse_args(arguments)
    try:
        rules = read_script(options.script) if options.script else []
        fake = FakeAnthropic(port=options.port, rules=rules, api_key=options.key, polls=options.polls)
    except (ScriptError, OSError) as error:
        sys.stderr.write(f"fake_llm: {error}\n")
        return 1
    with fake:
        sys.stdout.write(f"ANTHROPIC_BASE_URL={fake.url}\nMEMORY_EMBEDDING_BASE_URL={fake.url}/v1\n")
        sys.stdout.flush()
        try:
            fake.join()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
