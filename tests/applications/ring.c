/* Each rank says where it is, sends its number around a ring and checks what arrives; then ranks 0 and 1 measure.
   With an argument, a folder that all ranks see, it goes on with windows, threads and a file of all ranks. */
#include "kinds.h"

#define BYTES 2000000
#define TRIPS 3

static double megabits(int rank)
{
    char *message = calloc(BYTES, 1);
    int other = 1 - rank;
    double best = 0.0;
    for (int trip = 0; trip < TRIPS; trip++) {
        double began = MPI_Wtime();
        if (rank == 0)
            MPI_Send(message, BYTES, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        MPI_Recv(message, BYTES, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(message, BYTES, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        double rate = 2 * 8e-6 * BYTES / (MPI_Wtime() - began);
        best = rate > best ? rate : best;
    }
    free(message);
    return best;
}

int main(int argc, char **argv)
{
    int rank, size, length, level, got = -1;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    printf("rank %d of %d on %s\n", rank, size, host);
    int left = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    confirm("ring", got == left);
    if (size > 1 && rank < 2) {
        double rate = megabits(rank);
        if (rank == 0)
            printf("Mbit/s %.1f\n", rate);
    }
    if (argc > 1) {
        one_sided();
        shared_window();
        if (level == MPI_THREAD_MULTIPLE)
            threads();
        file_of_all(argv[1]);
    }
    MPI_Finalize();
    return wrong;
}
