"""Keras classes for what model functions make, once they are understood."""
