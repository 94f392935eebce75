"""Mistakes in Flux pairs, under the names of the models' files."""
