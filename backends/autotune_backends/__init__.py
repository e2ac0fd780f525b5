"""See the README of the folder above."""
