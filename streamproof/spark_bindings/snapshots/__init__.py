"""Snapshots of a pipeline: taken, collected, restored; and what nobody needs any more."""
