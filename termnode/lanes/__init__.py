"""How requests arrive: one module per lane, each deciding without doing any I/O."""
