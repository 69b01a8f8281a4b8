"""Who talks to whom: traces, watched traffic, recognized patterns."""
