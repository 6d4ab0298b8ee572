"""Asking a model: replay, budget, call, validation, ledger, leases."""
