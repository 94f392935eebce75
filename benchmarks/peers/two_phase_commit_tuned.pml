/* Two-phase commit, 2PC(N): N resource managers and a coordinator, written for Spin's speed.
 * The steps, states and assertion are those of two_phase_commit_idiomatic.pml, and so are the counts.
 *
 * For speed:
 * - one process, each step one d_step;
 * - the whole state is two ints, so that a step is at most two assignments with constant masks.
 *   A manager is two bits: 00 working, 01 prepared, 10 committed, 11 aborted. All low bits are next to
 *   each other, and so are all high bits, so the assertion is one expression over all;
 * - of thirteen orders and distances of the fields within the ints, those that Spin's hash function
 *   spreads best (at N=8 with -w22 it meets 1.8 million conflicts; with the worst, 42 million);
 * - steps that are never enabled together share an option, since Spin tries each option in each state:
 *   to receive Commit or Abort; to give up while working, and to be heard by the coordinator;
 * - the assertion is evaluated only where a manager ends.
 *
 * Parameter: -DN=7 (from 1 to 9).
 */
#ifndef N
#define N 5
#endif

#define ALL	((1 << N) - 1)

/* From bit 0: managers who sent Prepared. Then Commit sent, Abort sent, coordinator has committed,
 * coordinator has aborted. Then managers known to be prepared. */
int network;

/* Managers: low bits, then high bits. */
int managers;

#define SENT(m)		(1 << (m))
#define COMMIT_SENT	(1 << 9)
#define ABORT_SENT	(1 << 10)
#define COMMITTED	(1 << 11)
#define ABORTED		(1 << 12)
#define KNOWN(m)	(1 << (13 + (m)))
#define UNDECIDED	!(network & (COMMITTED | ABORTED))

#define LOW(m)		(1 << (m))
#define HIGH(m)		(1 << (9 + (m)))
#define WORKING(m)	!(managers & (LOW(m) | HIGH(m)))

/* Of those who ended, all or none aborted. */
#define ENDED		(managers >> 9)
#define AGREEMENT	((managers & ENDED) == 0 || (managers & ENDED) == ENDED)

#define MANAGER(m) \
	:: d_step { WORKING(m) -> \
		managers = managers | LOW(m); \
		network = network | SENT(m) \
	} \
	:: d_step { WORKING(m) || ((network & SENT(m)) && UNDECIDED) -> \
		if \
		:: WORKING(m) -> \
			managers = managers | LOW(m) | HIGH(m); \
			assert(AGREEMENT) \
		:: else -> \
			network = network | KNOWN(m) \
		fi \
	} \
	:: d_step { network & (COMMIT_SENT | ABORT_SENT) -> \
		if \
		:: network & COMMIT_SENT -> managers = (managers | HIGH(m)) & ~LOW(m) \
		:: else -> managers = managers | HIGH(m) | LOW(m) \
		fi; \
		assert(AGREEMENT) \
	}

active proctype Protocol() {
end:	do
	:: d_step { UNDECIDED -> network = network | ABORTED | ABORT_SENT }
	:: d_step { UNDECIDED && (network >> 13) == ALL -> network = network | COMMITTED | COMMIT_SENT }
	MANAGER(0)
#if N > 1
	MANAGER(1)
#endif
#if N > 2
	MANAGER(2)
#endif
#if N > 3
	MANAGER(3)
#endif
#if N > 4
	MANAGER(4)
#endif
#if N > 5
	MANAGER(5)
#endif
#if N > 6
	MANAGER(6)
#endif
#if N > 7
	MANAGER(7)
#endif
#if N > 8
	MANAGER(8)
#endif
	od
}
