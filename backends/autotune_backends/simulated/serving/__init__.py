"""The event-driven serving simulator: one group of devices that serves a language model's requests."""
