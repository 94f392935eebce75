/* Chandy-Lamport snapshot on a complete directed graph of N sites with FIFO channels, CL(B1,...,BN),
 * written for Spin's speed. The steps, states and assertions are those of
 * chandy_lamport_idiomatic.pml, and so are the counts.
 *
 * For speed:
 * - one process and no Spin channels, each step one d_step;
 * - all that is known of a channel is one word (a byte where no site may send more than one message,
 *   else a short). Contents are not kept: sent and received tell how many messages are under way, and
 *   the marker, once its sender has recorded, comes after as many as had been sent by then;
 * - receiving a message or a marker is one option, since only the head of a channel can be received;
 * - channels are scalars with constant masks: no array index, no loop;
 * - only the channels that a step changes in what the assertion speaks of are looked at.
 *
 * Parameters: -DN=3 -DB1=2 -DB2=2 -DB3=2 (and -DB4=... for N=4, -DW=1 if no budget is above 1).
 */
#ifndef N
#define N 3
#define B1 1
#define B2 1
#define B3 1
#endif
#ifndef W
#define W 2		/* bits of a count: budgets up to 3 */
#endif

/* A channel: sent, received, sent_at, received_at, caught (W bits each), finished (one bit). */
#if W == 1
#define word byte
#else
#define word short
#endif
#define M		((1 << W) - 1)
#define RECEIVED	(1 << W)
#define CAUGHT		(1 << (4*W))
#define FINISHED	(1 << (5*W))
#define sent_at(c)	((c >> (2*W)) & M)
#define received_at(c)	((c >> (3*W)) & M)
#define caught(c)	((c >> (4*W)) & M)

/* The sites: recorded (one bit each), then sends left (two bits each). */
#define RECORDED(p)	(1 << (p))
#define LEFT(p)		(1 << (4 + 2*(p)))
#define BOTH(p, q)	(RECORDED(p) | RECORDED(q))

#if N == 4
short sites = B1*LEFT(0) + B2*LEFT(1) + B3*LEFT(2) + B4*LEFT(3);
word c01, c02, c03, c10, c12, c13, c20, c21, c23, c30, c31, c32;
#else
short sites = B1*LEFT(0) + B2*LEFT(1) + B3*LEFT(2);
word c01, c02, c10, c12, c20, c21;
#endif

#define CONSISTENT(p, q) \
	assert(((sites & BOTH(p, q)) != BOTH(p, q) || received_at(c##p##q) <= sent_at(c##p##q)) && \
	       (!(c##p##q & FINISHED) || sent_at(c##p##q) - received_at(c##p##q) == caught(c##p##q)))

/* What p and r recorded of the channels between them, when p records. */
#define COPY(p, r) \
	c##p##r = c##p##r | ((c##p##r & M) << (2*W)); \
	c##r##p = c##r##p | ((c##r##p & (M << W)) << (2*W))
#define CHECK(p, r) \
	CONSISTENT(p, r); CONSISTENT(r, p)

#if N == 4
#define RECORD(p, q, r, s) \
	sites = sites | RECORDED(p); \
	COPY(p, q); COPY(p, r); COPY(p, s); \
	CHECK(p, q); CHECK(p, r); CHECK(p, s)
#else
#define RECORD(p, q, r, s) \
	sites = sites | RECORDED(p); \
	COPY(p, q); COPY(p, r); \
	CHECK(p, q); CHECK(p, r)
#endif

/* p sends to q. */
#define SEND(p, q) \
	d_step { (sites & (3*LEFT(p))) -> \
		sites = sites - LEFT(p); \
		c##p##q = c##p##q + 1 \
	}

#define MARKER_UNDER_WAY(p, q)	((sites & RECORDED(p)) && !(c##p##q & FINISHED))

/* q receives what p sent; r and s are the other sites. */
#define RECEIVE(p, q, r, s) \
	d_step { (((c##p##q >> W) ^ c##p##q) & M) || MARKER_UNDER_WAY(p, q) -> \
		if \
		:: MARKER_UNDER_WAY(p, q) && (((c##p##q >> W) ^ (c##p##q >> (2*W))) & M) == 0 -> \
			if \
			:: sites & RECORDED(q) \
			:: else -> RECORD(q, p, r, s) \
			fi; \
			c##p##q = c##p##q | FINISHED; \
			CONSISTENT(p, q) \
		:: else -> \
			if \
			:: (sites & RECORDED(q)) && !(c##p##q & FINISHED) -> \
				c##p##q = c##p##q + RECEIVED + CAUGHT \
			:: else -> \
				c##p##q = c##p##q + RECEIVED \
			fi \
		fi \
	}

#define CHANNEL(p, q, r, s) \
	:: SEND(p, q) \
	:: RECEIVE(p, q, r, s)

active proctype Graph() {
end:	do
	:: d_step { !(sites & RECORDED(0)) -> RECORD(0, 1, 2, 3) }
	CHANNEL(0, 1, 2, 3)
	CHANNEL(0, 2, 1, 3)
	CHANNEL(1, 0, 2, 3)
	CHANNEL(1, 2, 0, 3)
	CHANNEL(2, 0, 1, 3)
	CHANNEL(2, 1, 0, 3)
#if N == 4
	CHANNEL(0, 3, 1, 2)
	CHANNEL(1, 3, 0, 2)
	CHANNEL(2, 3, 0, 1)
	CHANNEL(3, 0, 1, 2)
	CHANNEL(3, 1, 0, 2)
	CHANNEL(3, 2, 0, 1)
#endif
	od
}
