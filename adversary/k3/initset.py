from dataclasses import dataclass, replace
from typing import Any
from streamproof.lang import *
@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    def initial_states(self): yield (0, list({"ewr", "jfk", "lga"})[0])
    @init
    def start(self) -> Any: return (0, "ewr")
    @action
    def up(self, s: Any) -> Any: return (1 - s[0], s[1])
    @always
    def ok(self, s: Any) -> bool: return s[1] != "lga"
MODEL = M
