/* The pages of the texels cannot be read: the kernel tells by a signal who tries, and the signal's
 * handler keeps that thread until the gate is opened. */

/* mmap, sigaction, nanosleep */
#define _DEFAULT_SOURCE

#include "lane_gate.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct lane_gate {
    volatile int is_in_use;
    volatile int has_arrived;
    volatile int is_open;
    char* texels;
    size_t size_bytes;
};

static lane_gate gates[LANE_GATES];
static struct sigaction action_before;

/* Calls nothing that a handler may not call. Returns whether it came in time. */
static int wait_for(const volatile int* event) {
    const struct timespec millisecond = {0, 1000000};
    for (int left = LANE_GATE_PATIENCE_MS; !*event && left > 0; --left) {
        (void)nanosleep(&millisecond, NULL);
    }
    return *event;
}

static void stop_at_gate(int number, siginfo_t* info, void* context) {
    (void)number;
    (void)context;
    const int error = errno;
    const char* const address = (const char*)info->si_addr;
    for (lane_gate* gate = gates; gate < gates + LANE_GATES; ++gate) {
        if (gate->is_in_use && !gate->has_arrived && address >= gate->texels &&
            address < gate->texels + gate->size_bytes) {
            gate->has_arrived = 1;
            if (!wait_for(&gate->is_open)) {
                (void)mprotect(gate->texels, gate->size_bytes, PROT_READ | PROT_WRITE);
            }
            errno = error;
            return; /* and reads once more */
        }
    }
    /* Somebody else's: it comes again, and is met as it would have been. */
    (void)sigaction(SIGSEGV, &action_before, NULL);
}

static void require(int is_true, const char* what) {
    if (!is_true) {
        perror(what);
        exit(1);
    }
}

lane_gate* lane_gate_make(const void* texels, size_t size_bytes) {
    static int is_handled = 0;
    if (!is_handled) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = stop_at_gate;
        action.sa_flags = SA_SIGINFO;
        require(sigaction(SIGSEGV, &action, &action_before) == 0, "sigaction");
        is_handled = 1;
    }
    lane_gate* gate = gates;
    while (gate < gates + LANE_GATES && gate->is_in_use) {
        ++gate;
    }
    require(gate < gates + LANE_GATES, "a gate");
    gate->texels =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    gate->size_bytes = size_bytes;
    require(gate->texels != MAP_FAILED, "mmap");
    memcpy(gate->texels, texels, size_bytes);
    require(mprotect(gate->texels, size_bytes, PROT_NONE) == 0, "mprotect");
    gate->is_open = 0;
    gate->has_arrived = 0;
    gate->is_in_use = 1;
    return gate;
}

void* lane_gate_texels(const lane_gate* gate) {
    return gate->texels;
}

int lane_gate_wait(lane_gate* gate) {
    return wait_for(&gate->has_arrived);
}

void lane_gate_open(lane_gate* gate) {
    if (!gate->is_open) {
        require(mprotect(gate->texels, gate->size_bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
        gate->is_open = 1;
    }
}

void lane_gate_free(lane_gate* gate) {
    if (gate != NULL) {
        lane_gate_open(gate);
        gate->is_in_use = 0;
        munmap(gate->texels, gate->size_bytes);
    }
}
