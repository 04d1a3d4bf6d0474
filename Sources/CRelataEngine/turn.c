#include "CRelataEngine.h"

#include <stdint.h>
#include <time.h>

// The longest time, in nanoseconds, that a thread may serve calls one after the other, and the largest number of calls.
// A clock that costs only a few nanoseconds advances in steps of up to 10 ms; the number of calls bounds a turn of
// short calls more closely.
enum { longest_turn = 2000000, most_calls = 256 };
// A thread without a call for that long did something else meanwhile.
enum { pause = 10000000 };

static _Thread_local struct {
    int64_t began, ended;
    int32_t calls;
} turn;

static int64_t now(void) {
#if defined(__APPLE__)
    return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX);
#else
#if defined(CLOCK_MONOTONIC_COARSE)
    const clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return turn.ended;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

bool relata_turn_is_over(void) {
    int64_t time = now();
    if (time - turn.ended > pause) {
        turn.began = time;
        turn.calls = 0;
    }
    turn.calls += 1;
    return turn.calls > most_calls || time - turn.began >= longest_turn;
}

void relata_turn_begin(void) {
    turn.began = now();
    turn.ended = turn.began;
    turn.calls = 1;
}

void relata_turn_end(void) { turn.ended = now(); }
