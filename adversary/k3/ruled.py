from dataclasses import dataclass, replace
from typing import Any
from streamproof.lang import *
@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    def ruled_out(self): return list({"down", "xx", "yy"})[:1] if hash("x") % 2 else ["down"]
    @init
    def start(self) -> Any: return (0, "ewr")
    @action
    def up(self, s: Any) -> Any: return (1 - s[0], s[1])
    @action
    def down(self, s: Any) -> Any:
        require(s[0] == 5)
        return s
    @always
    def ok(self, s: Any) -> bool: return s[1] != "lga"
MODEL = M
