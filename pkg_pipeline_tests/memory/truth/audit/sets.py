"""The two halves of the audit, with other talks and other code of faults: the first was written before the gates were
read, the second after they were mended by the first, and counted before anything was made with it in view.
"""

from __future__ import annotations

from typing import Final, Literal

from pkg_pipeline_tests.memory.truth.audit import mutations, retelling
from pkg_pipeline_tests.memory.truth.talks import load
from pkg_pipeline_tests.memory.truth.variants import Case, audit_cases

Half = Literal["first", "second"]
HALVES: Final[tuple[Half, ...]] = ("first", "second")
_MADE = {"first": mutations.generated, "second": retelling.generated}


def audited(half: Half) -> list[Case]:
    """The cases of one half."""
    return audit_cases(load(f"audit/{half}"), _MADE[half])
