"""Commands of live sessions, threads and windows."""
