from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def a0(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a1(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a2(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a3(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a4(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a5(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a6(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a7(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a8(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a9(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a10(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a11(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a12(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a13(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a14(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a15(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a16(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a17(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a18(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a19(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a20(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a21(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a22(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a23(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a24(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a25(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a26(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a27(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a28(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a29(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a30(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a31(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a32(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a33(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a34(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a35(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a36(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a37(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a38(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a39(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a40(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a41(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a42(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a43(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a44(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a45(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a46(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a47(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a48(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a49(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a50(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a51(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a52(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a53(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a54(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a55(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a56(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a57(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a58(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a59(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a60(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a61(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a62(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a63(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a64(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a65(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a66(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a67(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a68(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a69(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a70(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a71(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a72(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a73(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a74(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a75(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a76(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a77(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a78(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a79(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a80(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a81(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a82(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a83(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a84(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a85(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a86(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a87(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a88(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a89(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a90(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a91(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a92(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a93(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a94(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a95(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a96(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a97(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a98(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a99(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a100(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a101(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a102(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a103(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a104(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a105(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a106(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a107(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a108(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a109(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a110(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a111(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a112(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a113(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a114(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a115(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a116(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a117(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a118(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a119(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a120(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a121(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a122(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a123(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a124(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a125(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a126(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a127(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a128(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a129(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a130(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a131(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a132(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a133(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a134(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a135(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a136(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a137(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a138(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a139(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a140(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a141(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a142(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a143(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a144(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a145(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a146(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a147(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a148(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a149(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a150(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a151(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a152(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a153(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a154(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a155(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a156(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a157(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a158(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a159(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a160(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a161(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a162(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a163(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a164(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a165(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a166(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a167(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a168(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a169(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a170(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a171(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a172(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a173(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a174(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a175(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a176(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a177(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a178(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a179(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a180(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a181(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a182(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a183(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a184(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a185(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a186(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a187(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a188(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a189(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a190(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a191(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a192(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a193(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a194(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a195(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a196(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a197(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a198(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a199(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a200(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a201(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a202(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a203(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a204(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a205(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a206(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a207(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a208(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a209(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a210(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a211(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a212(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a213(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a214(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a215(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a216(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a217(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a218(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a219(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a220(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a221(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a222(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a223(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a224(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a225(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a226(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a227(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a228(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a229(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a230(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a231(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a232(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a233(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a234(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a235(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a236(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a237(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a238(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a239(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a240(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a241(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a242(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a243(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a244(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a245(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a246(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a247(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a248(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a249(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a250(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a251(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a252(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a253(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a254(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a255(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a256(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a257(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a258(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a259(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a260(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a261(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a262(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a263(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a264(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a265(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a266(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a267(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a268(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a269(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a270(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a271(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a272(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a273(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a274(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a275(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a276(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a277(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a278(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a279(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a280(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a281(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a282(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a283(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a284(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a285(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a286(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a287(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a288(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a289(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a290(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)
    @action
    def a291(self, s: S) -> S:
        require(s.n == 3)
        return replace(s, n=4)
    @action
    def a292(self, s: S) -> S:
        require(s.n == 4)
        return replace(s, n=5)
    @action
    def a293(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=6)
    @action
    def a294(self, s: S) -> S:
        require(s.n == 6)
        return replace(s, n=7)
    @action
    def a295(self, s: S) -> S:
        require(s.n == 7)
        return replace(s, n=8)
    @action
    def a296(self, s: S) -> S:
        require(s.n == 8)
        return replace(s, n=9)
    @action
    def a297(self, s: S) -> S:
        require(s.n == 0)
        return replace(s, n=1)
    @action
    def a298(self, s: S) -> S:
        require(s.n == 1)
        return replace(s, n=2)
    @action
    def a299(self, s: S) -> S:
        require(s.n == 2)
        return replace(s, n=3)

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.n < 9

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
