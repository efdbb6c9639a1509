"""The Term service: a Trio program that carries out what the lanes decide."""
