"""What a job on the Grid may do: who it runs as, what it sees of the machine, which processes are its own.

`rules` and `identity` say what holds for whom, `order` carries it, `keeper` holds one run together: a PID namespace
whose first process makes a view of the files on each node (`view`), gives up all rights for what it starts
(`privileges`) and lets the run's own launcher start ranks on its other nodes (`door`, `client`). `starter` is the
daemon's side of it.
"""
