"""Transformations of models, by format; backends share them."""
