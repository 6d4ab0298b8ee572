"""The world: each file implements a port of ``stages.ports``; SDKs are imported only here."""
