"""The fallback emulator: pyte's screen with our own parser, rows, reports and reflow.

Layers, each a module: ``parser`` (bytes to actions) -> ``dispatch`` (tables ``csi``, ``osc``,
``reports``) -> ``screen``, which is ``grid`` < ``editing`` < ``motion`` < ``writing`` <
``storing`` < ``screen`` over ``pyte.Screen`` -> ``engine`` (the interface).
"""

from termnode.terminal.pyte_engine.engine import PyteEngine

__all__ = ["PyteEngine"]
