"""The dbt marts over a small memory."""
