"""Mistakes in subscriptions, under the names of the models' files."""
