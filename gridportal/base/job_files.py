"""The name of every file of a job's folder, which lives over all runs of the job, for portal and programs alike.

Constants only, as in `run_files`: what runs on a node imports this module, too.
"""

from __future__ import annotations

#: The variable that tells a program where its checkpoints are.
CHECKPOINTS_VARIABLE = "GRIDPORTAL_CHECKPOINTS"
#: In the folder of the job: the folder of its checkpoints, which a program may fill as it likes.
CHECKPOINTS = "checkpoints"

#: In the folder of the checkpoints. Written by whoever asks for the stop.
STOP = "stop"
#: Written by the program: why it goes on all the same, how its arrays lie now, and that it has come to its end.
NOT_STOPPED = "not-stopped.json"
MAPS = "maps.json"
FINISHED = "finished"
#: A checkpoint is a folder of this name with a manifest; one that is set aside ends in `BAD`.
CHECKPOINT = "checkpoint-{:08d}"
MANIFEST = "manifest.json"
BAD = ".bad"
