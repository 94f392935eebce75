"""Carries the actions of the model out on broker and client, over a network that loses some."""

from client import Broker, CarefulClient, Client
from deliveries import Message, State

from streamproof.testing import REFUSED, UNKNOWN, Adapter, Happened


class ClientAdapter(Adapter):
    client_class: type[Client] = Client
    unseen = ("expire",)  # the broker does it by itself

    def __init__(self) -> None:
        self.broker = Broker()
        self.client = self.client_class(self.broker)
        self.acknowledged = 0

    def send(self, m: Message) -> None:
        self.broker.send(str(m))

    def deliver(self, m: Message) -> object:  # noqa: ARG002 - the broker chooses another one
        name = self.client.take()
        return Happened("deliver", Message(int(name[-1]))) if name else REFUSED

    def acknowledge(self, m: Message) -> object:
        self.acknowledged += 1
        if self.acknowledged % 2:  # the other half is lost on its way
            self.broker.acknowledge(str(m))
        return UNKNOWN

    def observe(self) -> dict[str, int]:
        return dict(self.client.effects)

    def expected(self, s: State) -> dict[str, int]:
        return {str(m): 1 for m, has_effect in s.has_effect.items() if has_effect}


class CarefulAdapter(ClientAdapter):
    client_class = CarefulClient
