"""Notices: what people are told of jobs and proposals, on the page, by e-mail and by webhook."""
