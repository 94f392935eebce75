"""Mistakes in SUNION, under the names of the models' files."""
