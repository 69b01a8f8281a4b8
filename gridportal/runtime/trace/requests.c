/* Requests by slot: the smallest free number, so that the same loop uses the same slots each time around.
 *
 * MPICH gives one and the same handle to all sends that were complete at once, so a handle can stand for several slots:
 * the oldest is meant. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define GRABBED 0 /* scratch: slots of the requests that a call was given; SLOTS: those that it completed */
#define SLOTS 1

struct slot {
    uint64_t handle;
    int used, active, persistent, next;
    unsigned mark; /* the last search that took it */
    unsigned life; /* how many requests it has stood for */
};

/* A request as a call was given it. */
struct grabbed {
    uint64_t handle;
    int slot;
    unsigned life;
};

static struct slot *slots;
static int n_slots, lowest;
static int heads[BUCKETS];
static int prepared;
static unsigned search;

static uint64_t key(MPI_Request request)
{
    uint64_t value = 0;
    memcpy(&value, &request, sizeof request < sizeof value ? sizeof request : sizeof value);
    return value;
}

static int *bucket(uint64_t handle)
{
    if (!prepared) {
        memset(heads, -1, sizeof heads);
        prepared = 1;
    }
    return &heads[(handle * 0x9E3779B97F4A7C15ull) >> 52];
}

static int new_slot(void)
{
    while (lowest < n_slots && slots[lowest].used)
        lowest++;
    if (lowest == n_slots) {
        n_slots = n_slots ? 2 * n_slots : 64;
        slots = realloc(slots, (size_t)n_slots * sizeof *slots);
        if (!slots)
            abort();
        memset(slots + lowest, 0, (size_t)(n_slots - lowest) * sizeof *slots);
    }
    return lowest;
}

void makes_request(struct event *event, MPI_Request request, int persistent)
{
    if (event->failed || request == MPI_REQUEST_NULL)
        return;
    int made = new_slot();
    slots[made] = (struct slot){key(request), 1, !persistent, persistent, -1, 0, slots[made].life + 1};
    int *link = bucket(slots[made].handle);
    while (*link >= 0)
        link = &slots[*link].next;
    *link = made;
    event->request = made;
}

static void drop(int slot)
{
    int *link = bucket(slots[slot].handle);
    while (*link >= 0 && *link != slot)
        link = &slots[*link].next;
    if (*link == slot)
        *link = slots[slot].next;
    slots[slot].used = 0;
    if (slot < lowest)
        lowest = slot;
}

/* The oldest slot of a handle that this search did not find before; -1 when there is none. */
static int find(MPI_Request request)
{
    uint64_t handle = key(request);
    if (request == MPI_REQUEST_NULL)
        return -1;
    for (int slot = *bucket(handle); slot >= 0; slot = slots[slot].next)
        if (slots[slot].handle == handle && slots[slot].mark != search) {
            slots[slot].mark = search;
            return slot;
        }
    return -1;
}

/* Before the call, which may overwrite the handles. */
void remember(struct event *event, int count, const MPI_Request *requests)
{
    if (!event->thread || count < 0)
        return;
    struct grabbed *grabbed = scratch(event, GRABBED, (size_t)(count + 1) * sizeof *grabbed);
    event->n_remembered = count;
    hold();
    search++;
    for (int i = 0; i < count; i++) {
        int slot = find(requests[i]);
        grabbed[i] = (struct grabbed){key(requests[i]), slot, slot < 0 ? 0 : slots[slot].life};
    }
    release();
}

/* Of threads that wait for requests of one handle another may have taken the slot meanwhile: then any is as good. */
static int slot_of(const struct grabbed *grabbed)
{
    int slot = grabbed->slot;
    if (slot < 0 || (slots[slot].used && slots[slot].life == grabbed->life))
        return slot;
    for (slot = *bucket(grabbed->handle); slot >= 0 && slots[slot].handle != grabbed->handle;)
        slot = slots[slot].next;
    return slot;
}

/* `index`: among those that were remembered; of a call that failed it may be anything. */
static void completes(struct event *event, const struct grabbed *grabbed, int index)
{
    int slot = index < 0 || index >= event->n_remembered ? -1 : slot_of(&grabbed[index]);
    if (slot < 0 || !slots[slot].active)
        return;
    event->requests[event->n_requests++] = slot;
    if (slots[slot].persistent)
        slots[slot].active = 0;
    else
        drop(slot);
}

static void room_for(struct event *event, int count)
{
    event->requests = scratch(event, SLOTS, (size_t)(count + 1) * sizeof(int));
    event->n_requests = 0;
}

void completed_all(struct event *event, int count)
{
    const struct grabbed *grabbed = scratch(event, GRABBED, 1);
    room_for(event, count);
    for (int i = 0; i < count; i++)
        completes(event, grabbed, i);
}

void completed_one(struct event *event, int index)
{
    const struct grabbed *grabbed = scratch(event, GRABBED, 1);
    room_for(event, 1);
    completes(event, grabbed, index);
}

void completed_some(struct event *event, int count, const int *indices)
{
    const struct grabbed *grabbed = scratch(event, GRABBED, 1);
    count = count > event->n_remembered ? event->n_remembered : count; /* MPI_UNDEFINED is less than 0 */
    room_for(event, count > 0 ? count : 0);
    for (int i = 0; i < count; i++)
        completes(event, grabbed, indices[i]);
}

void started(struct event *event, int count, const MPI_Request *requests)
{
    room_for(event, count);
    search++;
    for (int i = 0; i < count; i++) {
        int slot = find(requests[i]);
        if (slot < 0)
            continue;
        slots[slot].active = 1;
        event->requests[event->n_requests++] = slot;
    }
}

/* The call was about the one request that was remembered, which goes on. */
void named(struct event *event)
{
    const struct grabbed *grabbed = scratch(event, GRABBED, 1);
    room_for(event, 1);
    if (grabbed[0].slot >= 0)
        event->requests[event->n_requests++] = grabbed[0].slot;
}

void freed(struct event *event)
{
    named(event);
    if (event->n_requests)
        drop(event->requests[0]);
}

/* Whether a test of what was remembered can say anything: of no or only inactive requests it is always true. */
int any_active(struct event *event, int count)
{
    const struct grabbed *grabbed = scratch(event, GRABBED, 1);
    for (int i = 0; i < count; i++)
        if (grabbed[i].slot >= 0 && slots[grabbed[i].slot].active)
            return 1;
    return 0;
}
