"""One package per hop: load, decide, call, save. Stages do not import each other."""
