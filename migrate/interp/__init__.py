"""What a model function computes, found by evaluating it with abstract values."""
