"""`make chaos`: portals under a stream of jobs while their parts are killed, stopped, filled up and misled."""
