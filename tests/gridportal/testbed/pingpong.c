/* What ranks of a real program see: prints of each rank its number, host, and how many it shares memory with, then for
 * each argument A-B the Mbit/s of messages from rank A to rank B. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIZE = 1000000, TIMES = 3, LINE = 200 };

static double rate(int rank, int from, int to, char *message)
{
    double begin = 0;
    for (int time = 0; time <= TIMES; time++) {
        if (time == 1)
            begin = MPI_Wtime();
        if (rank == from) {
            MPI_Send(message, SIZE, MPI_CHAR, to, 0, MPI_COMM_WORLD);
            MPI_Recv(message, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == to) {
            MPI_Recv(message, SIZE, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(message, 1, MPI_CHAR, from, 0, MPI_COMM_WORLD);
        }
    }
    return TIMES * 8e-6 * SIZE / (MPI_Wtime() - begin);
}

/* The processors that this rank may use, as the kernel writes them. */
static void processors(char *list)
{
    char line[LINE];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Cpus_allowed_list: %99s", list) == 1)
            break;
    if (status)
        fclose(status);
}

int main(int argc, char **argv)
{
    int rank, size, beside;
    char host[100] = "", list[100] = "-", line[LINE] = "";
    const char *threads = getenv("OMP_NUM_THREADS");
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &beside);
    gethostname(host, sizeof host - 1);
    processors(list);
    snprintf(line, LINE, "rank %d on %s shares memory with %d, threads %s, processors %s", rank, host, beside,
             threads ? threads : "-", list);
    char *lines = calloc(size, LINE), *message = calloc(SIZE, 1);
    MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int each = 0; rank == 0 && each < size; each++)
        printf("%s\n", lines + each * LINE);
    for (int each = 1; each < argc; each++) {
        int from, to;
        sscanf(argv[each], "%d-%d", &from, &to);
        MPI_Barrier(MPI_COMM_WORLD);
        double seen = rate(rank, from, to, message);
        MPI_Bcast(&seen, 1, MPI_DOUBLE, from, MPI_COMM_WORLD);
        if (rank == 0)
            printf("from %d to %d: %.1f Mbit/s\n", from, to, seen);
    }
    MPI_Finalize();
    return 0;
}
