"""The flow, one file per hop: load, decide, call, save. Stages never import one another."""
