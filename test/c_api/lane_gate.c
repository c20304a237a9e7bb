/* The pages of the texels cannot be read: the kernel tells by a signal who tries, and the signal's
 * handler keeps that thread until the gate is opened. */

/* mmap, sigaction, poll */
#define _DEFAULT_SOURCE

#include "lane_gate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct lane_gate {
    volatile sig_atomic_t is_in_use;
    volatile sig_atomic_t has_arrived;
    char* texels;
    size_t size_bytes;
    int arrival[2]; /* a pipe: one byte when a lane has come */
    int opening[2]; /* a pipe: its end of writing is closed when the gate is opened */
    int is_open;
};

static lane_gate gates[LANE_GATES];
static struct sigaction action_before;

static int wait_for(int file) {
    struct pollfd wanted = {file, POLLIN, 0};
    int result = 0;
    do {
        result = poll(&wanted, 1, LANE_GATE_PATIENCE_MS);
    } while (result < 0 && errno == EINTR);
    return result > 0;
}

/* Calls nothing that a handler may not call. */
static void stop_at_gate(int number, siginfo_t* info, void* context) {
    (void)number;
    (void)context;
    const int error = errno;
    const char* const address = (const char*)info->si_addr;
    for (int i = 0; i < LANE_GATES; ++i) {
        lane_gate* const gate = &gates[i];
        if (gate->is_in_use && !gate->has_arrived && address >= gate->texels &&
            address < gate->texels + gate->size_bytes) {
            gate->has_arrived = 1;
            if (write(gate->arrival[1], "", 1) == 1 && !wait_for(gate->opening[0])) {
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
    require(pipe(gate->arrival) == 0 && pipe(gate->opening) == 0, "pipe");
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
    return wait_for(gate->arrival[0]);
}

void lane_gate_open(lane_gate* gate) {
    if (!gate->is_open) {
        gate->is_open = 1;
        require(mprotect(gate->texels, gate->size_bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
        close(gate->opening[1]);
    }
}

void lane_gate_free(lane_gate* gate) {
    if (gate == NULL) {
        return;
    }
    lane_gate_open(gate);
    gate->is_in_use = 0;
    close(gate->opening[0]);
    close(gate->arrival[0]);
    close(gate->arrival[1]);
    munmap(gate->texels, gate->size_bytes);
}
