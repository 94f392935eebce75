"""The protocols' invariants: one file each, as named conjuncts and lemmas."""
