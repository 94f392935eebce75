"""streamproof."""
