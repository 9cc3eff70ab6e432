"""The ops, one family a module. Importing this package imports every module in it, which fills `reference_impl.tape.primitive.OPS`."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
