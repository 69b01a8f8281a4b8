"""What is planned: times in which nodes are worked on, which placements respect, and what everybody is told."""
