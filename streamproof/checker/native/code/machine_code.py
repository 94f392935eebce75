"""Machine code: LLVM modules compiled for this machine, kept on disk, and loaded."""

from __future__ import annotations

import ctypes
import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
from llvmlite import ir

from streamproof.cache import cache_directory

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

WORDS = ctypes.c_void_p
"""A pointer to an array, as `ndarray.ctypes.data` gives it."""
COUNT = ctypes.c_int64
NUMBER = ctypes.c_double


class Library:
    """Compiled functions; a call releases the interpreter's lock.

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
        """Give a function; its types are those of `ctypes`."""
        return ctypes.CFUNCTYPE(result, *arguments)(self._library[name])


def compile_module(module: ir.Module) -> bytes:
    """Compile a module to an object file."""
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    target = _machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_unrolling = False  # a loop's body is a whole model
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(parsed, passes)
    image: bytes = target.emit_object(parsed)
    return image


def machine_name() -> str:
    """Name what compiled code depends on, besides its source."""
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {llvm.get_host_cpu_name()} {features}"


def kept_file(key: str) -> Path:
    """Name the file in which what was compiled for a key is kept."""
    return cache_directory() / "native" / f"{hashlib.sha256(key.encode()).hexdigest()}.o"


def keep(file: Path, content: bytes) -> None:
    """Write a file in one step. Where it cannot be written, the next run compiles again."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(content)
        Path(temporary.name).replace(file)
    except OSError:
        return


def _machine() -> llvm.TargetMachine:
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="large",
    )
