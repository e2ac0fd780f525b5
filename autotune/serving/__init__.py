"""How a model is served: the dynamic batcher, and the HTTP endpoint in front of it. Both ship with exported folders."""
