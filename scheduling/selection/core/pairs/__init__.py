"""Groups by the rates of all pairs: measured ones, and those of networks with cycles."""
