"""Every fault that the program is said to survive, as a function that causes it and counts what was lost (row B23).

To add one: write ``faults/<subject>.py`` with a function ``attack(ground, tries) -> Outcome``, decorate it with
``@fault(name, how=…, short=…, full=…)`` and name the module in ``faults.kinds.MODULES``. ``short`` tries run in CI
(``pkg_pipeline_tests/faults``), ``full`` ones with ``make faults``, which prints the table of docs/faults.md.
An attack uses the real parts: databases of ``ground.database()``, processes that really die, servers on loopback.
"""
