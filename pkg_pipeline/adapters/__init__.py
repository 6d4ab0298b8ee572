"""Implementations of ``stages.ports`` and of the stores; SDKs are imported only here."""
