"""The command ``brokerd``: run a broker, and say which other machines may come to it."""
