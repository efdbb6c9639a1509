"""The person's view of the terminals, in the terminal that they already use."""
