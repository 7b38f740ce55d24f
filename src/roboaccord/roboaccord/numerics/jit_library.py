"""Faster compilation of kernels: only kernels that Python calls are translated to machine code.

Numba translates a function to an intermediate language (that of LLVM, the compiler behind it),
optimises it and emits machine code; the result is a library. The optimised form is also linked into
the library of each caller, and there optimised and emitted again: of a chain of eight calls, the
innermost function is compiled eight times. Here a library links the functions that it calls and
then waits. It is optimised and emitted, with all its callees, only when the address of a function
is requested because Python or a C library calls it.

jit_cache.py calls `install`, which replaces numba's classes by those of this module. They override
private methods of numba, so setup.cfg bounds its version (numba<0.69): check them with each new
release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler import Flags
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.types import Function, Type
from numba.core.typing import Context, Signature

# A serialised library: its name, the format "bitcode" (LLVM's) or "object" (machine code), content.
State: TypeAlias = tuple[str, str, Any]
HASH = hash(Flags())  # common hash of all flags, as numba hashes only the names of the options
# Prefix of the names of environments (Python objects that code refers to) in numba's modules.
ENVIRONMENT = "_ZN08NumbaEnv"


class Library(JITCodeLibrary):  # type: ignore[misc]
    """Library that links its callees at once, but is emitted only when an address is requested."""

    _emitted = False

    def finalize(self) -> None:
        """Link the called functions; afterwards no code can be added."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        manager = llvm.create_new_module_pass_manager()
        manager.add_global_dead_code_eliminate_pass()
        manager.run(self._final_module, self._codegen._pass_builder())
        self._finalize_dynamic_globals()
        self._finalized = True
        prefix = self._codegen._rtlinker.PREFIX
        if any(item.name.startswith(prefix) for item in self._final_module.global_variables):
            self.emit()  # functions that call each other in a circle are needed at once

    def emit(self) -> None:
        """Optimise the code and translate it to machine code, once."""
        self._ensure_finalized()
        if self._emitted:
            return
        self._emitted = True
        self._dynamic_globals.clear()  # some belong to functions that are not called
        self._optimize_final_module()
        self._final_module.verify()
        names = [item.name for item in self._final_module.global_variables]
        self._finalize_final_module()
        for name in names:
            if name.startswith(ENVIRONMENT) and (environment := lookup_environment(name)):
                self._codegen.set_env(name, environment)

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        """Simplify functions only, because `emit` optimises them."""
        ll_module.data_layout = self._codegen._data_layout
        manager = llvm.create_new_module_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_dead_code_elimination_pass()
        manager.add_global_dead_code_eliminate_pass()
        manager.run(ll_module, self._codegen._pass_builder())

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; 0 if the library has none of this name."""
        self._ensure_finalized()
        if not self._emitted and not any(
            item.name == name and not item.is_declaration for item in self._final_module.functions
        ):
            return 0
        self.emit()
        return super().get_pointer_to_function(name)  # type: ignore[no-any-return]

    def serialize_using_object_code(self) -> State:
        """Return the machine code with the names that it defines; bitcode if it is not emitted."""
        if not self._emitted:
            return self.name, "bitcode", self._get_module_for_linking().as_bitcode()
        items = (*self._final_module.functions, *self._final_module.global_variables)
        names = [item.name for item in items if not item.is_declaration]
        return self.name, "object", (self._get_compiled_object(), names)

    @classmethod
    def _unserialize(cls, codegen: JITCPUCodegen, state: State) -> Library:
        """Return the library of a state that `serialize_using_object_code` has returned."""
        name, content_format, content = state
        library: Library = codegen.create_library(name)
        if content_format == "bitcode":
            library._final_module = llvm.parse_bitcode(content)
            library._finalized = True
            return library
        machine_code, defined_names = content
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._emitted = True
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(defined_names)
        return library


class Codegen(JITCPUCodegen):  # type: ignore[misc]
    """Numba's code generator, which makes libraries of the class above."""

    _library_class = Library

    def set_env(self, env_name: str, env: Environment) -> None:
        """Set the environment of an emitted function; that of others is set by `emit`."""
        if self._engine.is_symbol_defined(env_name):
            super().set_env(env_name, env)


class KernelFlags(Flags):  # type: ignore[misc]
    """Flags of a compilation with a fast comparison, because numba compares them at each call."""

    def __hash__(self) -> int:
        """Return the hash of all flags."""
        return HASH

    def __eq__(self, other: object) -> bool:
        """Return whether the values of all options are equal."""
        if isinstance(other, KernelFlags):
            return bool(self._values == other._values)
        return bool(super().__eq__(other))


class Typing(Context):  # type: ignore[misc]
    """Numba's type inference of calls, which caches the signature found for each call."""

    def _resolve_user_function_type(
        self, func: object, args: Sequence[Type], kws: Mapping[str, Type], literals: None = None
    ) -> Signature | None:
        """Return the signature of a call of a kernel, as numba or an earlier call found it."""
        function, flags = self._lookup_global(func) or func, ConfigStack.top_or_none()
        if not isinstance(function, Function) or not isinstance(flags, KernelFlags):
            return super()._resolve_user_function_type(func, args, kws, literals)
        key = function, tuple(args), tuple(kws.items()), flags
        if key not in _signatures:
            _signatures[key] = super()._resolve_user_function_type(func, args, kws, literals)
        return _signatures[key]


# Signatures by function, types of arguments, types of keyword arguments, and flags.
_signatures = dict[tuple[Function, tuple[Type, ...], tuple[tuple[str, Type], ...], Flags], Any]()


def install() -> None:
    """Replace numba's type inference and code generator in this process; may be called again."""
    cpu_target.typing_context.__class__ = Typing
    cpu_target.target_context.codegen().__class__ = Codegen
