"""What a keyboard, a clipboard and a mouse send to a program, as pure functions."""
