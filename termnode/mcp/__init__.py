"""The Model Context Protocol server: ``termnode mcp`` (specs/mcp.md).

It needs the extra ``termnode[mcp]``; this package itself imports without it, and nothing else of
Termnode needs it. Use `termnode.mcp.main.serve`.
"""
