"""The attempts of a job: the script, handing over, following, the end; backends."""
