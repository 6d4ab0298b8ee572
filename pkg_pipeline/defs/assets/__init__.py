"""One file per asset group; every body fits one screen."""
