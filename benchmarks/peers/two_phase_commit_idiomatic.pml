/* Two-phase commit, 2PC(N): N resource managers and a coordinator.
 *
 * Messages are never lost or consumed, so the network is the set of messages ever sent, and a
 * message may be received again: such a step leads back to the state it was made in. One process
 * for each manager and one for the coordinator; sets of managers are bit masks.
 *
 * Each step is one d_step and each process has a single control state, so the distinct states are
 * those of the protocol. Nothing else was done for speed.
 *
 * Asserted whenever a manager ends: none has committed while another has aborted.
 * Parameter: -DN=7 (from 1 to 9).
 */
#ifndef N
#define N 5
#endif

#define ALL	((1 << N) - 1)

mtype = { working, prepared, committed, aborted, undecided };

mtype manager[N] = working;
mtype coordinator = undecided;
short known;		/* managers the coordinator knows to be prepared */
short prepared_sent;	/* managers who have sent Prepared */
bool commit_sent;
bool abort_sent;
byte commits;		/* managers committed, and aborted */
byte aborts;

inline end_in(outcome, count) {
	if
	:: manager[_pid] != outcome -> manager[_pid] = outcome; count++
	:: else
	fi;
	assert(commits == 0 || aborts == 0)
}

active [N] proctype Manager() {
end:	do
	:: d_step { manager[_pid] == working ->
		manager[_pid] = prepared;
		prepared_sent = prepared_sent | (1 << _pid) }
	:: d_step { manager[_pid] == working -> end_in(aborted, aborts) }
	:: d_step { commit_sent -> end_in(committed, commits) }
	:: d_step { abort_sent -> end_in(aborted, aborts) }
	od
}

#define LEARN(m) \
	d_step { coordinator == undecided && (prepared_sent & (1 << m)) -> \
		known = known | (1 << m) \
	}

active proctype Coordinator() {
end:	do
	:: d_step { coordinator == undecided && known == ALL ->
		coordinator = committed; commit_sent = true }
	:: d_step { coordinator == undecided ->
		coordinator = aborted; abort_sent = true }
	:: LEARN(0)
#if N > 1
	:: LEARN(1)
#endif
#if N > 2
	:: LEARN(2)
#endif
#if N > 3
	:: LEARN(3)
#endif
#if N > 4
	:: LEARN(4)
#endif
#if N > 5
	:: LEARN(5)
#endif
#if N > 6
	:: LEARN(6)
#endif
#if N > 7
	:: LEARN(7)
#endif
#if N > 8
	:: LEARN(8)
#endif
	od
}
