"""The options of each command, as argparse takes them."""
