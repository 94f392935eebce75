from dataclasses import dataclass, replace, field
from typing import Any
import functools
from streamproof.lang import *
@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @functools.cached_property
    def names(self): return tuple({"ewr", "jfk", "lga"})
    @init
    def start(self) -> Any: return (0, self.names[0])
    @action
    def up(self, s: Any) -> Any:
        return ((s[0] + 1) % 3, self.names[(s[0] + 1) % 3])
    @always
    def ok(self, s: Any) -> bool: return s != (1, "ewr")
MODEL = M
