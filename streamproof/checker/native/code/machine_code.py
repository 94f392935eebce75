"""Machine code: LLVM modules compiled for this machine, kept on disk, and loaded."""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from streamproof.cache import cache_directory
from streamproof.checker.native.memory import call
from streamproof.checker.packable import NotCompiled
from streamproof.disk import replace_file

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

WORDS = ctypes.c_void_p
"""An array, passed to compiled code as its address."""
COUNT = ctypes.c_int64
NUMBER = ctypes.c_double


class Library:
    """Compiled functions. A call takes arrays, and releases the interpreter's lock.

    Parameters
    ----------
    image : an object file, as `compile_module` makes it
    names : the functions that it has
    """

    def __init__(self, image: bytes, names: Sequence[str]) -> None:
        self._jit = llvm.create_lljit_compiler(_machine())
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for name in names:
            builder = builder.export_symbol(name)
        self._library = builder.link(self._jit, hashlib.sha256(image).hexdigest())

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a function, which keeps the library; its types are those of `ctypes`."""
        return Function(self, self._library[name], ctypes.CFUNCTYPE(result, *arguments))


class Function:
    """A compiled function, called with arrays and numbers.

    Attributes
    ----------
    address : where its code is, as long as there is the function
    """

    def __init__(self, library: Library, address: int, kind: Any) -> None:
        self._library, self.address = library, address  # no code without its library
        self._function = kind(address)

    def __call__(self, *arguments: Any) -> Any:
        """Run the function on arrays as they lie in memory."""
        return call(self._function, arguments)


def compile_text(text: str) -> bytes:
    """Compile a module that is optimised already to an object file."""
    image: bytes = _machine().emit_object(llvm.parse_assembly(text))
    return image


def compile_module(module: ir.Module) -> bytes:
    """Optimise a module and compile it to an object file.

    Raises
    ------
    NotCompiled : if LLVM refuses the module
    """
    try:
        parsed = llvm.parse_assembly(str(module))
        parsed.verify()
    except RuntimeError as error:
        raise NotCompiled(
            f"LLVM {'.'.join(map(str, llvm.llvm_version_info))} refuses the code of this model "
            f"({error}). Nothing was searched. This is a fault of streamproof; use --engine "
            "reference, and please report the model"
        ) from error
    target = _machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_unrolling = False  # a loop's body is a whole model
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(parsed, passes)
    image: bytes = target.emit_object(parsed)
    return image


def machine_name() -> str:
    """Name all that compiled code depends on, except its source."""
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {features}"


def kept(key: str) -> tuple[dict[str, Any], bytes] | None:
    """Look up what was compiled for a key, with what there is to know about it."""
    try:
        digest, _, content = _file(key).read_bytes().partition(b"\n")
    except OSError:
        return None
    if digest.decode(errors="replace") != hashlib.sha256(content).hexdigest():
        return None  # damaged: it is made anew
    about, _, image = content.partition(b"\n")
    return json.loads(about), image


def keep(key: str, about: dict[str, Any], image: bytes) -> None:
    """Write a file in one step: a digest of the rest, a line about the code, the code.

    Where it cannot be written, the next run compiles again.
    """
    content = json.dumps(about).encode() + b"\n" + image
    digest = hashlib.sha256(content).hexdigest().encode()
    file = _file(key)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, digest + b"\n" + content, durable=False)
    except OSError:
        return


def _file(key: str) -> Path:
    return cache_directory() / "native" / f"{hashlib.sha256(key.encode()).hexdigest()}.o"


def _machine() -> llvm.TargetMachine:
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="large",
    )
