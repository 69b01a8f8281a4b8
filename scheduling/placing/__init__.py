"""From a request to a placement: snapshot, selection, trial, what people decide, the waiting line."""
