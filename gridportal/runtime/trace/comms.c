/* Communicators: a small number for each, and the world ranks of its ranks.
 *
 * Ranks number them independently, so the file tells communicators apart by their members and by a count among those of
 * the same members that live at once ("k"): creating one is collective, so all members count alike. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

struct comm {
    int size, k, inter, live, window;
    int last_tag, rises, fell; /* of the tags used on it */
    uint64_t handle;
    int *members;
};

static struct comm *comms;
static int n_comms, room, last = -1;
static MPI_Group world = MPI_GROUP_NULL;

static uint64_t key(const void *handle, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, handle, size < sizeof value ? size : sizeof value);
    return value;
}

static int find(uint64_t handle, int window)
{
    if (last >= 0 && comms[last].live && comms[last].handle == handle && comms[last].window == window)
        return last;
    for (int id = 0; id < n_comms; id++)
        if (comms[id].live && comms[id].handle == handle && comms[id].window == window)
            return last = id;
    return -1;
}

static int same(const struct comm *one, const struct comm *other)
{
    return one->size == other->size && one->inter == other->inter && one->window == other->window &&
           !memcmp(one->members, other->members, (size_t)one->size * sizeof(int));
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
            comms[id].handle = wanted.handle;
            return id;
        }
        k++;
    }
    if (n_comms == room) {
        room = room ? 2 * room : 16;
        comms = realloc(comms, (size_t)room * sizeof *comms);
        if (!comms)
            abort();
    }
    wanted.k = k;
    comms[n_comms] = wanted;
    return n_comms++;
}

static struct comm of_group(MPI_Group group, uint64_t handle, int inter, int window)
{
    struct comm made = {.handle = handle, .inter = inter, .live = 1, .window = window};
    PMPI_Group_size(group, &made.size);
    int *own = malloc((size_t)(made.size + 1) * sizeof(int));
    made.members = malloc((size_t)(made.size + 1) * sizeof(int));
    if (!own || !made.members)
        abort();
    for (int rank = 0; rank < made.size; rank++)
        own[rank] = rank;
    if (made.size)
        PMPI_Group_translate_ranks(group, made.size, own, world, made.members);
    for (int rank = 0; rank < made.size; rank++)
        if (made.members[rank] == MPI_UNDEFINED)
            made.members[rank] = NOBODY;
    free(own);
    return made;
}

int comm_id(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return NOTHING;
    uint64_t handle = key(&comm, sizeof comm);
    int id = find(handle, 0), inter = 0;
    if (id >= 0)
        return id;
    MPI_Group group;
    if (world == MPI_GROUP_NULL)
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    id = place(of_group(group, handle, inter, 0));
    PMPI_Group_free(&group);
    return id;
}

int comm_of_window(MPI_Win win)
{
    if (win == MPI_WIN_NULL)
        return NOTHING;
    uint64_t handle = key(&win, sizeof win);
    int id = find(handle, 1);
    if (id >= 0)
        return id;
    MPI_Group group;
    PMPI_Win_get_group(win, &group);
    id = place(of_group(group, handle, 0, 1));
    PMPI_Group_free(&group);
    return id;
}

static void forget(int id)
{
    if (id > 0)
        comms[id].live = 0;
}

void forget_comm(MPI_Comm comm)
{
    forget(find(key(&comm, sizeof comm), 0));
}

void forget_window(MPI_Win win)
{
    forget(find(key(&win, sizeof win), 1));
}

int comm_size(int id)
{
    return id < 0 ? 0 : comms[id].size;
}

int world_rank(int id, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        return ANYONE;
    return id < 0 || rank < 0 || rank >= comms[id].size ? NOBODY : comms[id].members[rank];
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
                comms[id].inter ? "true" : "false", comms[id].window ? "true" : "false");
        for (int rank = 0; rank < comms[id].size; rank++)
            fprintf(file, "%s%d", rank ? ", " : "", comms[id].members[rank]);
        fputs("]}", file);
    }
    fputs("]", file);
}
