"""Shells with an integration: started with it, their marks read, commands pressed into them."""
