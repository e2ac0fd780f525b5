"""Kinds of choice: each file takes from the backends' offers what it governs, and says what it leaves out."""
