"""Dense linear algebra on two-dimensional process grids, by programs that can be stopped and go on elsewhere."""
