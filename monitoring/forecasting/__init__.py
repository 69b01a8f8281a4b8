"""The Network Weather Service: what a series will be next, by the predictor that errs least."""
