"""Devices that are simulated: what a candidate would do on hardware that is not here."""
