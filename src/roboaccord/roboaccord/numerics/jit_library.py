"""Faster compilation of kernels: machine code is made once, for kernels that Python calls.

Numba optimises each function, turns it into machine code, and also links the optimised form into
each caller, where it is optimised and turned into machine code again: a chain of calls eight deep
is compiled eight times. Here the code library of a function links what it calls, and then waits.
Only a library from which an address is asked, because Python or a C library calls its function, is
optimised and emitted (turned into machine code), with all that it calls.

`install` puts these classes in the place of numba's. They override private methods of numba, which
setup.cfg bounds (numba<0.69): check them with every new numba.
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

# A stored library: name, "bitcode" or "object", and its content.
State: TypeAlias = tuple[str, str, Any]
HASH = hash(Flags())  # of all flags: numba hashes only the names of the options
ENVIRONMENT = "_ZN08NumbaEnv"  # beginning of the names of environments in numba's modules


class Library(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked at once, but optimised and emitted when an address is asked for."""

    _emitted = False

    def finalize(self) -> None:
        """Link the called functions; afterwards nothing can be added."""
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
            self.emit()  # functions that call each other in a circle cannot wait

    def emit(self) -> None:
        """Optimise the code and make it ready to run, once."""
        self._ensure_finalized()
        if self._emitted:
            return
        self._emitted = True
        self._dynamic_globals.clear()  # those of functions that are not called are among them
        self._optimize_final_module()
        self._final_module.verify()
        names = [item.name for item in self._final_module.global_variables]
        self._finalize_final_module()
        for name in names:
            if name.startswith(ENVIRONMENT) and (environment := lookup_environment(name)):
                self._codegen.set_env(name, environment)

    def _optimize_functions(self, ll_module: llvm.ModuleRef) -> None:
        """Only simplify functions, because `emit` optimises them."""
        ll_module.data_layout = self._codegen._data_layout
        manager = llvm.create_new_module_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_dead_code_elimination_pass()
        manager.add_global_dead_code_eliminate_pass()
        manager.run(ll_module, self._codegen._pass_builder())

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, or 0 where there is none of this name."""
        self._ensure_finalized()
        if not self._emitted and not any(
            item.name == name and not item.is_declaration for item in self._final_module.functions
        ):
            return 0
        self.emit()
        return super().get_pointer_to_function(name)  # type: ignore[no-any-return]

    def serialize_using_object_code(self) -> State:
        """Return the machine code and the names in it, or bitcode if none has been emitted."""
        if not self._emitted:
            return self.name, "bitcode", self._get_module_for_linking().as_bitcode()
        items = (*self._final_module.functions, *self._final_module.global_variables)
        names = [item.name for item in items if not item.is_declaration]
        return self.name, "object", (self._get_compiled_object(), names)

    @classmethod
    def _unserialize(cls, codegen: JITCPUCodegen, state: State) -> Library:
        name, kind, data = state
        self: Library = codegen.create_library(name)
        if kind == "bitcode":
            self._final_module = llvm.parse_bitcode(data)
            self._finalized = True
            return self
        self.enable_object_caching()
        self._set_compiled_object(data[0])
        self._emitted = True
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(data[1])
        return self


class Codegen(JITCPUCodegen):  # type: ignore[misc]
    """Numba's code generator, with libraries that wait until an address is asked."""

    _library_class = Library

    def set_env(self, env_name: str, env: Environment) -> None:
        """Set the environment of a function that is emitted; for others `emit` does it later."""
        if self._engine.is_symbol_defined(env_name):
            super().set_env(env_name, env)


class KernelFlags(Flags):  # type: ignore[misc]
    """Flags of a compilation that are quick to compare, which numba does for each typed call."""

    def __hash__(self) -> int:
        return HASH

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags):
            return bool(self._values == other._values)
        return bool(super().__eq__(other))


class Typing(Context):  # type: ignore[misc]
    """Numba's typing of calls, with a memory: each type is looked up in the templates once."""

    def _resolve_user_function_type(
        self, func: object, args: Sequence[Type], kws: Mapping[str, Type], literals: None = None
    ) -> Signature | None:
        function, flags = self._lookup_global(func) or func, ConfigStack.top_or_none()
        if not isinstance(function, Function) or not isinstance(flags, KernelFlags):
            return super()._resolve_user_function_type(func, args, kws, literals)
        key = function, tuple(args), tuple(kws.items()), flags
        if key not in _signatures:
            _signatures[key] = super()._resolve_user_function_type(func, args, kws, literals)
        return _signatures[key]


_signatures = dict[tuple[Function, tuple[Type, ...], tuple[tuple[str, Type], ...], Flags], Any]()


def install() -> None:
    """Make numba in this process remember types, and emit code only where it is called."""
    cpu_target.typing_context.__class__ = Typing
    cpu_target.target_context.codegen().__class__ = Codegen
