"""The run folder: what a search leaves on disk, and how it is read back."""
