"""What the experiments on moves share: the Grid of table II scaled to minutes, cases, and a portal of their own."""
