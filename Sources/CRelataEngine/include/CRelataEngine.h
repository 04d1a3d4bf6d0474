#ifndef CRELATAENGINE_H
#define CRELATAENGINE_H

#include <stdbool.h>

// The turn of the calling thread: how long it has served calls without a pause. In C, because Swift has no variables of
// a thread.

// Notes a call, and says whether the thread has served calls for so long that others should run first.
bool relata_turn_is_over(void);
// Begins a new turn with the call that was noted.
void relata_turn_begin(void);
// Notes the end of a call.
void relata_turn_end(void);

#endif
