"""A program of ``pkg-pipeline dev`` that dies; nothing looks at it afterwards."""

from __future__ import annotations

import psutil
import pytest

from pkg_pipeline.adapters.server import embedded
from pkg_pipeline_tests.browser import running
from pkg_pipeline_tests.browser.conftest import Dev

pytestmark = pytest.mark.browser


def test_a_program_that_dies_ends_all_with_its_name(dev: Dev) -> None:
    process = dev.dagster.process
    assert process is not None
    family = psutil.Process(process.pid).children(recursive=True)
    (daemon,) = [one for one in family if "dagster._daemon" in one.cmdline()]
    daemon.kill()
    rest, _ = process.communicate(timeout=running.END_SECONDS)
    assert process.returncode == 1
    assert "daemon ended by signal SIGKILL; the rest is stopped" in rest
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert not embedded.is_running(dev.home / "postgres")
