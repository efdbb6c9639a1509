"""Which lines of a screen changed when, and which characters of them."""

from termnode.terminal.screen_log.log import Changes, ScreenLog

__all__ = ["Changes", "ScreenLog"]
