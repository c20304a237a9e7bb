/* Texels behind a gate: a lane stops where it begins to read them, until the gate is opened. So
 * how long a lane is busy is not left to the speed of the machine. */

#ifndef LANE_GATE_H
#define LANE_GATE_H

#include <stddef.h>

/* One that is never opened lets the lane go after this time, so that a test that is stuck fails. */
#define LANE_GATE_PATIENCE_MS 240000

/* For at most this many gates at a time. */
#define LANE_GATES 4

typedef struct lane_gate lane_gate;

/* A gate that is shut, before a copy of these texels. Ends the process where there is none. */
lane_gate* lane_gate_make(const void* texels, size_t size_bytes);

/* The copy. The first to read it waits at the gate; more than one must not come. */
void* lane_gate_texels(const lane_gate* gate);

/* Until a lane has come to the gate: 1, or 0 where none comes. */
int lane_gate_wait(lane_gate* gate);

/* From now on the texels are memory like any other. May be called again. */
void lane_gate_open(lane_gate* gate);

/* Opens the gate and frees the copy, which nobody may read any more. NULL is allowed. */
void lane_gate_free(lane_gate* gate);

#endif
