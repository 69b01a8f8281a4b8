/* Notes how large the MPI world is that a process of a job has begun, where it is that world's rank 0.
 *
 * A program that another MPI's launcher starts sees a world of its own in each process, "rank 0 of 1", and may end well.
 * So MPI_Init is passed on, and once it has succeeded rank 0 of a world leaves a file with its size: the first one of
 * each process that the launcher started, by that process's number. One world leaves one file, N of them leave N.
 *
 * A process that the launcher started and that ends without MPI leaves a file with the size 0, where that is certain: it
 * has called no MPI_Init, waited for no process of its own, and neither a library nor its own file has MPI in it. Many
 * are not certain, and leave nothing.
 *
 * The library is of no MPI: it is loaded into programs of any, and into those that have none. All that it calls is
 * looked up when it is called, without a version, so that it can be loaded wherever there is a C library; and MPI is
 * asked only where it is known what its MPI_COMM_WORLD looks like. Whatever fails, the program goes on as without it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma weak dlsym
#pragma weak dlopen
#pragma weak dlclose
#pragma weak dladdr
#pragma weak dl_iterate_phdr

#define FOLDER "GRIDPORTAL_WORLDS" /* where files are left; without it nothing is */
#define STARTED "GRIDPORTAL_STARTED" /* the number of the process that the launcher started */
#define FAILED 16 /* MPI_ERR_OTHER, nearly everywhere */
#define LIBRARIES 512
#define MPICH_WORLD 0x44000000
#define MOST_PROGRAM 268435456 /* bytes of a program that are looked through */
#define VERSION 8193 /* bytes of what an MPI says of itself, at most */

int MPI_Init(int *argc, char ***argv);

typedef int (*Init)(int *, char ***);
typedef int (*InitThread)(int *, char ***, int, int *);

static int noted = 0;
static long faults = -1; /* of processes that were waited for before this program began */
static int called = 0; /* whether MPI was asked to begin, be it in vain */

struct names {
    const char *names[LIBRARIES];
    int count;
};

static int keep_name(struct dl_phdr_info *info, size_t size, void *into)
{
    struct names *names = into;
    (void)size;
    if (info->dlpi_name && info->dlpi_name[0] && names->count < LIBRARIES)
        names->names[names->count++] = info->dlpi_name;
    return 0;
}

/* In libraries that were opened for their caller alone, as Python opens modules. */
static void *hidden(const char *name, const void *own)
{
    struct names loaded = {.count = 0};
    if (!dl_iterate_phdr || !dlopen || !dlclose)
        return NULL;
    dl_iterate_phdr(keep_name, &loaded);
    for (int i = 0; i < loaded.count; i++) {
        void *library = dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!library)
            continue;
        void *found = dlsym(library, name);
        dlclose(library); /* it was loaded before, and stays */
        if (found && found != own)
            return found;
    }
    return NULL;
}

/* The function of this name that the program would have called without us. */
static void *next(const char *name, const void *own)
{
    if (!dlsym)
        return NULL;
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : hidden(name, own);
}

/* Data of this name as all see it: a program may have a copy of its library's, and that one counts. */
static void *data(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : hidden(name, NULL);
}

static int begins(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, name, strlen(name));
}

/* Rank and size in MPI_COMM_WORLD; false where nobody knows how that is called here. */
static int ask(int *rank, int *size)
{
    void *of_rank = next("MPI_Comm_rank", NULL), *of_size = next("MPI_Comm_size", NULL);
    if (!of_rank || !of_size)
        return 0;
    void *world = data("ompi_mpi_comm_world");
    if (world)
        return !((int (*)(void *, int *))of_rank)(world, rank) && !((int (*)(void *, int *))of_size)(world, size);
    Dl_info where = {0};
    if (!dladdr || !dladdr(of_size, &where) || !where.dli_fname)
        return 0;
    if (!begins(where.dli_fname, "libmpi.so.12") && !begins(where.dli_fname, "libmpich.so.12"))
        return 0;
    return !((int (*)(int, int *))of_rank)(MPICH_WORLD, rank) && !((int (*)(int, int *))of_size)(MPICH_WORLD, size);
}

/* The first line of what the MPI says of itself. */
static const char *version(void)
{
    static char text[VERSION];
    int length = 0;
    int (*of_library)(char *, int *) = (int (*)(char *, int *))next("MPI_Get_library_version", NULL);
    if (!of_library || of_library(text, &length))
        return "";
    text[VERSION - 1] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static void leave(const char *folder, const char *process, int size)
{
    static char host[256], path[4096], line[512];
    gethostname(host, sizeof host - 1);
    mkdir(folder, 0777);
    if (snprintf(path, sizeof path, "%s/%s-%s", folder, host, process) >= (int)sizeof path)
        return;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    const char *from = getenv("OMPI_COMM_WORLD_SIZE") ? "openmpi" : getenv("PMI_SIZE") ? "pmi" : "other";
    int length = snprintf(line, sizeof line, "%d %s %.200s\n", size, from, size ? version() : "");
    if (length > 0 && write(file, line, (size_t)length) < 0)
        unlink(path);
    close(file);
}

static void note(void)
{
    int rank = -1, size = 0;
    const char *folder = getenv(FOLDER), *process = getenv(STARTED);
    if (!folder || !process || __atomic_exchange_n(&noted, 1, __ATOMIC_SEQ_CST))
        return;
    if (ask(&rank, &size) && rank == 0 && !strchr(process, '/'))
        leave(folder, process, size);
}

/* Whether the program's own file names MPI_Init, as one with a static MPI does; true where nobody can tell. */
static int has_mpi_inside(void)
{
    int found = 1, file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 1;
    off_t size = lseek(file, 0, SEEK_END);
    void *content = size > 0 && size < MOST_PROGRAM ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (content != MAP_FAILED) {
        found = memmem(content, (size_t)size, "MPI_Init", strlen("MPI_Init")) != NULL;
        munmap(content, (size_t)size);
    }
    close(file);
    return found;
}

/* Whether a library has MPI in it. */
static int has_mpi_beside(void)
{
    const void *own = (const void *)MPI_Init;
    return !dl_iterate_phdr || !dlopen || next("MPI_Init", own) || data("ompi_mpi_comm_world");
}

/* Faults of the pages of all processes that it has waited for; less than 0 where nobody can tell. */
static long faults_of_children(void)
{
    struct rusage used = {0};
    return getrusage(RUSAGE_CHILDREN, &used) ? -1 : used.ru_minflt;
}

/* The shell that has loaded us had children, and was then replaced by the program. */
__attribute__((constructor)) static void begin(void)
{
    faults = faults_of_children();
}

/* At the end of a process that the launcher started. */
__attribute__((destructor)) static void note_none(void)
{
    const char *folder = getenv(FOLDER), *process = getenv(STARTED);
    if (called || !folder || !process || strchr(process, '/') || (long)getpid() != strtol(process, NULL, 10))
        return;
    if (faults >= 0 && faults == faults_of_children() && !has_mpi_beside() && !has_mpi_inside())
        leave(folder, process, 0);
}

int MPI_Init(int *argc, char ***argv)
{
    called = 1;
    Init init = (Init)next("MPI_Init", (const void *)MPI_Init);
    int code = init ? init(argc, argv) : FAILED;
    if (!code)
        note();
    return code;
}

int PMPI_Init(int *argc, char ***argv)
{
    called = 1;
    Init init = (Init)next("PMPI_Init", (const void *)PMPI_Init);
    int code = init ? init(argc, argv) : FAILED;
    if (!code)
        note();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    called = 1;
    InitThread init = (InitThread)next("MPI_Init_thread", (const void *)MPI_Init_thread);
    int code = init ? init(argc, argv, required, provided) : FAILED;
    if (!code)
        note();
    return code;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    called = 1;
    InitThread init = (InitThread)next("PMPI_Init_thread", (const void *)PMPI_Init_thread);
    int code = init ? init(argc, argv, required, provided) : FAILED;
    if (!code)
        note();
    return code;
}
