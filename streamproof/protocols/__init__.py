"""The protocols: one file each, a pure state machine over `streamproof.lang` alone."""
