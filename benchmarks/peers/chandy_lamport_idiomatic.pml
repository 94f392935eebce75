/* Chandy-Lamport snapshot on a complete directed graph of N sites with FIFO channels, CL(B1,...,BN).
 *
 * Site p may send at most Bp application messages; site 0 alone starts the snapshot, once, whenever
 * it likes. One proctype, N instances, and a Spin channel for each ordered pair of sites.
 *
 * Each step of the algorithm is one d_step, and each site has a single control state (its do-loop),
 * so the distinct states are those of the algorithm, and none come from program counters.
 * The loop index is left at 0 by every step, so it tells no states apart either. Nothing else was
 * done for speed.
 *
 * The snapshot is asserted where a step changes what the assertion speaks of.
 * Parameters: -DN=3 -DB1=2 -DB2=2 -DB3=2 (and -DB4=... for N=4).
 */
#ifndef N
#define N 3
#define B1 1
#define B2 1
#define B3 1
#endif
#ifndef CAPACITY
#define CAPACITY 4	/* the largest budget, and a marker */
#endif

mtype = { app, marker };

/* k is a distance around the ring of sites, from 1 to N-1; channels are numbered by their sender. */
#define TO(k)	(_pid * (N-1) + (k) - 1)
#define FROM(k)	(((_pid + (k)) % N) * (N-1) + N - (k) - 1)
#define SENDER(k)	((_pid + (k)) % N)

#define CHANNELS	(N * (N-1))

chan wire[CHANNELS] = [CAPACITY] of { mtype };

#if N == 4
byte left[N] = { B1, B2, B3, B4 };
#else
byte left[N] = { B1, B2, B3 };
#endif
bool recorded[N];

byte sent[CHANNELS];
byte received[CHANNELS];
byte sent_at[CHANNELS];		/* when the sender recorded itself */
byte received_at[CHANNELS];	/* when the receiver did */
byte caught[CHANNELS];		/* messages recorded as the channel's own state */
bool finished[CHANNELS];

byte i;				/* always left at 0 */

inline consistent(c, one, other) {
	assert(!(recorded[one] && recorded[other]) || received_at[c] <= sent_at[c]);
	assert(!finished[c] || sent_at[c] - received_at[c] == caught[c])
}

inline record() {
	recorded[_pid] = true;
	for (i : 1 .. N-1) {
		sent_at[TO(i)] = sent[TO(i)];
		received_at[FROM(i)] = received[FROM(i)];
		wire[TO(i)]!marker
	}
	for (i : 1 .. N-1) {
		consistent(TO(i), _pid, SENDER(i));
		consistent(FROM(i), _pid, SENDER(i))
	}
	i = 0
}

#define SEND(k) \
	d_step { left[_pid] > 0 -> \
		left[_pid]--; \
		sent[TO(k)]++; \
		wire[TO(k)]!app \
	}

#define RECEIVE(k) \
	d_step { wire[FROM(k)]?app -> \
		received[FROM(k)]++; \
		if \
		:: recorded[_pid] && !finished[FROM(k)] -> caught[FROM(k)]++ \
		:: else \
		fi \
	}

#define RECEIVE_MARKER(k) \
	d_step { wire[FROM(k)]?marker -> \
		if \
		:: !recorded[_pid] -> record() \
		:: else \
		fi; \
		finished[FROM(k)] = true; \
		consistent(FROM(k), _pid, SENDER(k)) \
	}

active [N] proctype Site() {
end:	do
	:: d_step { _pid == 0 && !recorded[_pid] -> record() }
	:: SEND(1)
	:: RECEIVE(1)
	:: RECEIVE_MARKER(1)
	:: SEND(2)
	:: RECEIVE(2)
	:: RECEIVE_MARKER(2)
#if N == 4
	:: SEND(3)
	:: RECEIVE(3)
	:: RECEIVE_MARKER(3)
#endif
	od
}
