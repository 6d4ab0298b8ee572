"""Conversations in, tiered memory out.

Read the package in the order of the flow: ``adapters/exports`` parse a file, ``stages/ingest`` stores its
messages, ``stages/interactions`` cuts them into interactions, ``stages/summaries`` summarises what is due,
``stages/context`` answers a read. The rules they follow are in ``memory/``, the SQL in ``adapters/postgres``,
and ``defs/`` tells Dagster when to do what.
"""
