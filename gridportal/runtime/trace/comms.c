/* Communicators, windows and files: a small number for each, and the world ranks of its ranks.
 *
 * Ranks number them independently, so the file tells communicators apart by their members and by a count among those of
 * the same members that live at once ("k"): creating one is collective, so all members count alike. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define COMM 0 /* what a handle is of */
#define WINDOW 1
#define CACHED_BITS 10 /* so many places, as powers of two, for communicators that are found at once */

struct comm {
    int size, k, inter, live, kind;
    int rank; /* of this process in it, the local group's of an intercommunicator */
    int last_tag, rises, fell; /* of the tags used on it */
    int n_neighbours, *neighbours; /* destinations in its topology; -1: not looked up yet */
    uint64_t handle;
    int *members;
};

/* A file is written of as its communicator, which may be freed before it. */
struct open_file {
    uint64_t handle;
    int comm;
};

static struct comm *comms;
static int n_comms, room;
static int cache[1 << CACHED_BITS];
static struct open_file *files;
static int n_files, files_room;
static MPI_Group world = MPI_GROUP_NULL;

static uint64_t key(const void *handle, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, handle, size < sizeof value ? size : sizeof value);
    return value;
}

static int is(int id, uint64_t handle, int kind)
{
    return comms[id].live && comms[id].handle == handle && comms[id].kind == kind;
}

static int find(uint64_t handle, int kind)
{
    int *found = &cache[(handle * 0x9E3779B97F4A7C15ull) >> (64 - CACHED_BITS)];
    if (*found < n_comms && is(*found, handle, kind))
        return *found;
    for (int id = 0; id < n_comms; id++)
        if (is(id, handle, kind))
            return *found = id;
    return -1;
}

static int same(const struct comm *one, const struct comm *other)
{
    return one->size == other->size && one->inter == other->inter && one->kind == other->kind &&
           !memcmp(one->members, other->members, (size_t)one->size * sizeof(int));
}

static void *more(void *list, int n, int *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    list = realloc(list, (size_t)*room * size);
    if (!list)
        abort();
    return list;
}

/* The entry of `wanted`: a freed one of the same members, or a new one. */
static int place(struct comm wanted)
{
    int k = 0;
    for (int id = 0; id < n_comms; id++) {
        if (!same(&comms[id], &wanted))
            continue;
        if (!comms[id].live) {
            free(wanted.members);
            comms[id].live = 1;
            comms[id].rank = wanted.rank;
            comms[id].handle = wanted.handle;
            comms[id].n_neighbours = -1;
            return id;
        }
        k++;
    }
    comms = more(comms, n_comms, &room, sizeof *comms);
    wanted.k = k;
    comms[n_comms] = wanted;
    return n_comms++;
}

void world_ranks(MPI_Group group, int n, int *ranks)
{
    int *local = calloc((size_t)n + 1, sizeof(int));
    if (!local)
        abort();
    for (int rank = 0; rank < n; rank++)
        local[rank] = rank;
    if (n)
        PMPI_Group_translate_ranks(group, n, local, world, ranks);
    for (int rank = 0; rank < n; rank++)
        if (ranks[rank] == MPI_UNDEFINED)
            ranks[rank] = NOBODY;
    free(local);
}

static struct comm of_group(MPI_Group group, uint64_t handle, int inter, int kind)
{
    struct comm made = {.handle = handle, .inter = inter, .live = 1, .kind = kind, .n_neighbours = -1};
    PMPI_Group_size(group, &made.size);
    PMPI_Group_rank(group, &made.rank);
    made.members = malloc((size_t)(made.size + 1) * sizeof(int));
    if (!made.members)
        abort();
    world_ranks(group, made.size, made.members);
    return made;
}

/* The group of MPI_COMM_WORLD; the first communicator is the world. */
void world_is(MPI_Group group)
{
    world = group;
    place(of_group(group, 0, 0, COMM));
}

static int new_comm(MPI_Comm comm, uint64_t handle)
{
    int inter = 0, id;
    MPI_Group group;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    id = place(of_group(group, handle, inter, COMM));
    if (inter)
        PMPI_Comm_rank(comm, &comms[id].rank);
    PMPI_Group_free(&group);
    return id;
}

int comm_id(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return NOTHING;
    uint64_t handle = key(&comm, sizeof comm);
    int id = find(handle, COMM);
    if (id >= 0)
        return id;
    if (comm == MPI_COMM_WORLD) {
        comms[0].handle = handle;
        return 0;
    }
    return new_comm(comm, handle);
}

int comm_of_window(MPI_Win win)
{
    if (win == MPI_WIN_NULL)
        return NOTHING;
    uint64_t handle = key(&win, sizeof win);
    int id = find(handle, WINDOW);
    if (id >= 0)
        return id;
    MPI_Group group;
    PMPI_Win_get_group(win, &group);
    id = place(of_group(group, handle, 0, WINDOW));
    PMPI_Group_free(&group);
    return id;
}

static int find_file(MPI_File file)
{
    uint64_t handle = key(&file, sizeof file);
    int place = n_files - 1;
    while (place >= 0 && files[place].handle != handle)
        place--;
    return place;
}

int comm_of_file(MPI_File file)
{
    int place = find_file(file);
    return place < 0 ? NOTHING : files[place].comm;
}

void keep_file(MPI_File file, int comm)
{
    files = more(files, n_files, &files_room, sizeof *files);
    files[n_files++] = (struct open_file){key(&file, sizeof file), comm};
}

/* What is freed in another call, as by a function that an attribute has, is forgotten too, for its handle comes again. */
static int recorded(const struct event *event)
{
    return event->thread || event->nested;
}

int closes_file(struct event *event, MPI_File file)
{
    int place, comm;
    if (!recorded(event))
        return NOTHING;
    hold();
    place = find_file(file);
    comm = place < 0 ? NOTHING : files[place].comm;
    if (place >= 0)
        files[place] = files[--n_files];
    release();
    return comm;
}

static void forget(int id)
{
    if (id > 0)
        comms[id].live = 0;
}

int frees_comm(struct event *event, MPI_Comm comm)
{
    int id;
    if (!recorded(event))
        return NOTHING;
    hold();
    id = event->nested ? find(key(&comm, sizeof comm), COMM) : comm_id(comm);
    forget(id);
    release();
    return id;
}

int frees_window(struct event *event, MPI_Win win)
{
    int id;
    if (!recorded(event))
        return NOTHING;
    hold();
    id = event->nested ? find(key(&win, sizeof win), WINDOW) : comm_of_window(win);
    forget(id);
    release();
    return id;
}

int comm_size(int id)
{
    return id < 0 ? 0 : comms[id].size;
}

int comm_rank(int id)
{
    return id < 0 ? NOBODY : comms[id].rank;
}

int is_inter(int id)
{
    return id >= 0 && comms[id].inter;
}

int world_rank(int id, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        return ANYONE;
    return id < 0 || rank < 0 || rank >= comms[id].size ? NOBODY : comms[id].members[rank];
}

int comm_neighbours(int id, int **ranks)
{
    *ranks = comms[id].neighbours;
    return comms[id].n_neighbours;
}

void keep_neighbours(int id, int n, const int *ranks)
{
    int *kept = realloc(comms[id].neighbours, (size_t)(n + 1) * sizeof(int));
    if (!kept)
        abort();
    for (int i = 0; i < n; i++)
        kept[i] = ranks[i];
    comms[id].neighbours = kept;
    comms[id].n_neighbours = n;
}

void note_tag(int id, int tag)
{
    if (id < 0 || tag < 0)
        return;
    comms[id].rises += tag > comms[id].last_tag;
    comms[id].fell |= tag < comms[id].last_tag;
    comms[id].last_tag = tag;
}

int tags_count_up(int id)
{
    return id >= 0 && !comms[id].fell && comms[id].rises > 2;
}

void write_comms(FILE *file)
{
    fputs("[", file);
    for (int id = 0; id < n_comms; id++) {
        fprintf(file, "%s{\"k\": %d, \"inter\": %s, \"window\": %s, \"members\": [", id ? ", " : "", comms[id].k,
                comms[id].inter ? "true" : "false", comms[id].kind == WINDOW ? "true" : "false");
        for (int rank = 0; rank < comms[id].size; rank++)
            fprintf(file, "%s%d", rank ? ", " : "", comms[id].members[rank]);
        fputs("]}", file);
    }
    fputs("]", file);
}
