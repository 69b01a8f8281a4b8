"""Groups whose pairs all talk at once."""
