"""Words and data of the whole product, and pure functions on them. Imports nothing else of autotune."""
