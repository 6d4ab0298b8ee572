"""The ledger of calls and the budget."""
