"""The clients against the model: `python -m pytest examples/delivery` finds the mistake."""

from adapter import CarefulAdapter, ClientAdapter
from deliveries import Deliveries

from streamproof.testing import state_machine

TestClient = state_machine(Deliveries, adapter=ClientAdapter).TestCase
TestCarefulClient = state_machine(Deliveries, "large", adapter=CarefulAdapter).TestCase
