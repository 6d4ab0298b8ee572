"""The store of imports: staging, upserts, deletions, threads."""
