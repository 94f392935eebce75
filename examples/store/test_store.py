"""The store against the model: `python -m pytest examples/store` finds the mistake."""

from adapter import SnapshotAdapter, StoreAdapter
from isolation import Isolation

from streamproof.testing import state_machine

TestStore = state_machine(Isolation, adapter=StoreAdapter).TestCase
TestSnapshotStore = state_machine(Isolation, "large", adapter=SnapshotAdapter).TestCase
