"""The network now, in the past and ahead; Remos queries; the pages about nodes, links and topology."""
