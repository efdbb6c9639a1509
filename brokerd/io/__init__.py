"""The broker's outside: sockets, descriptors, signals and the loop that owns them all."""
