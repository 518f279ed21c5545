"""Code that ends up in users' programs: see ``..template`` for how to read it."""
