"""Estimator programs written anew as native TensorFlow 2."""
