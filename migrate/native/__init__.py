"""How a program becomes plain TensorFlow 2."""
