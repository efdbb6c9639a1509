"""The native terminal emulator: libghostty-vt, reached through the ``pyghostty`` package."""
