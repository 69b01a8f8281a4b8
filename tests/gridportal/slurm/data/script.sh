#!/bin/bash
ends=${SLURM_JOB_END_TIME:-}
if [ -z "$ends" ]; then
  ends=$(SLURM_TIME_FORMAT=%s timeout 20 squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e 2> /dev/null | head -n 1)
fi
case ${ends:-unknown} in
  unknown) export GRIDPORTAL_ENDS_AT=$(($(date +%s) + 120)) ;;
  *[!0-9]*) unset GRIDPORTAL_ENDS_AT ;;
  *) export GRIDPORTAL_ENDS_AT="$ends" ;;
esac
unset LC_ALL SLURM_TIME_FORMAT SLURM_EXPORT_ENV
export SLURM_HOSTFILE=/runs/7%/slurm.hosts SLURM_DISTRIBUTION=arbitrary
printf '%s\n' n3 n1 n2 > "$SLURM_HOSTFILE"
export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=/runs/7%/slurm.launch
cat > "$HYDRA_LAUNCHER_EXEC" << 'END_OF_LAUNCHER'
#!/bin/bash
# mpiexec calls this as: slurm.launch [-x] NODE COMMAND...
while [[ $1 == -* ]]; do shift; done
node=$1
shift
unset SLURM_HOSTFILE SLURM_DISTRIBUTION SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE
# Of its words mpiexec has quoted the program's path, for the shell that ssh would have had at the other end.
words=()
for word in "$@"; do
  [[ $word == \"*\" ]] && word=${word:1:-1}
  words+=("$word")
done
exec srun --quiet --overlap --nodes=1 --ntasks=1 --nodelist="$node" --mpi=none --input=none "${words[@]}"
END_OF_LAUNCHER
chmod +x "$HYDRA_LAUNCHER_EXEC"
# job 7
set -u
echo hello
