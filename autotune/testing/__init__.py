"""What tests need, shipped for plug-in authors too: small real models, fakes, conformance suites."""
