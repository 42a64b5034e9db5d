/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: mcjoin [-6] [-c N] [-r N] [-n N | -d N] [-t MS] [-w SECONDS] GROUPS   join ports
 * to groups of the running subnet manager
 *
 * GROUPS has a group a line: the GUIDs of its member ports. Every member joins as a full
 * member under its own port GID, all by requests of the one port this runs on. The MLID
 * of each group is printed, a line each, in hexadecimal. Group i has the MGID
 * ff12:4d54::<i>, with -6 that of an IPv6 solicited node, which may share its MLID with
 * others. With -c N then N times a member that a fixed sequence draws leaves its group,
 * or joins again when it has left; in the end all are in again. With -r N groups may be
 * refused (MLID 0x0000); then all members of the first N groups leave, and those refused
 * try again. With -n N only the first N members of each group join; with -d N, at a time
 * when all are in, the first N members of each leave, and those that are out already are
 * passed over. A request is made again when there is no answer within MS (3000), and for
 * SECONDS (0) when it is refused. The clock before and after all requests goes to
 * standard error.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

enum {
	RETRIES = 20,
	FULL_MEMBER = 1,
	FULL_PKEY = 0xffff,
	GROUP_QKEY = 0x10000,
	IPOIB_QKEY = 0xb1b, /* of the partition, which OpenSM insists on */
	/* component mask of MCMemberRecord, IBA volume 1, 15.2.5.17 */
	HAS_MGID = 1 << 0,
	HAS_PORT_GID = 1 << 1,
	HAS_QKEY = 1 << 2,
	HAS_MTU = 3 << 4,
	HAS_TCLASS = 1 << 6,
	HAS_PKEY = 1 << 7,
	HAS_RATE = 3 << 8,
	HAS_SL = 1 << 12,
	HAS_FLOW_LABEL = 1 << 13,
	HAS_JOIN_STATE = 1 << 16,
	TO_JOIN = HAS_MGID | HAS_PORT_GID | HAS_JOIN_STATE,
	TO_CREATE = TO_JOIN | HAS_QKEY | HAS_MTU | HAS_TCLASS | HAS_PKEY | HAS_RATE |
		    HAS_SL | HAS_FLOW_LABEL,
	/* bytes of the record that hold a selector and a value: what every port can do */
	MTU_AT = 38,
	RATE_AT = 42,
	EXACTLY = 2 << 6,
	MTU_256 = 1,
	RATE_2_5_GBPS = 2,
};

static struct ibmad_port *port;
static ib_portid_t sm;
static int is_ipv6;
static unsigned timeout_ms = 3000, patience_s;

struct group {
	uint64_t *guid;
	char *is_out;
	unsigned n, n_in, mlid;
};

/* A request of a member of a group; false: refused. */
static int ask(unsigned group, uint64_t guid, unsigned method, unsigned mask,
	       uint8_t *record)
{
	uint64_t mgid[2] = {htobe64(is_ipv6 ? 0xff12601bffff0000 : 0xff124d5400000000),
			    htobe64(is_ipv6 ? 0x1ff000000 + group : group)};
	uint64_t gid[2] = {htobe64((uint64_t)0xfe80 << 48), htobe64(guid)};
	ib_portid_t to = sm;
	ib_sa_call_t call = {
		.attrid = IB_SA_ATTR_MCRECORD, .method = method, .mask = mask};

	mad_set_array(record, 0, IB_SA_MCM_MGID_F, mgid);
	mad_set_array(record, 0, IB_SA_MCM_PORTGID_F, gid);
	mad_set_field(record, 0, IB_SA_MCM_JOIN_STATE_F, FULL_MEMBER);
	return sa_rpc_call(port, record, &to, &call, timeout_ms) != NULL;
}

/* The first member of a group creates it. 0 when refused, else the MLID. */
static unsigned join(unsigned group, uint64_t guid, int is_first)
{
	uint8_t record[IB_SA_DATA_SIZE] = {0};

	if (is_first) {
		mad_set_field(record, 0, IB_SA_MCM_QKEY_F,
			      is_ipv6 ? IPOIB_QKEY : GROUP_QKEY);
		mad_set_field(record, 0, IB_SA_MCM_PKEY_F, FULL_PKEY);
		record[MTU_AT] = EXACTLY | MTU_256;
		record[RATE_AT] = EXACTLY | RATE_2_5_GBPS;
	}
	if (!ask(group, guid, IB_MAD_METHOD_SET, is_first ? TO_CREATE : TO_JOIN, record))
		return 0;
	return mad_get_field(record, 0, IB_SA_MCM_MLID_F);
}

/* The group goes with its last member. */
static unsigned leave(unsigned group, uint64_t guid)
{
	uint8_t record[IB_SA_DATA_SIZE] = {0};

	return ask(group, guid, IB_MAD_METHOD_DELETE, TO_JOIN, record) != 0;
}

/* Member i goes in or out; 0 when refused. */
static int turn(struct group *g, unsigned group, unsigned i)
{
	time_t end = time(NULL) + patience_s;
	unsigned got;

	/* with patience: ports may lose memberships, and groups their last member */
	while (!(got = g->is_out[i] ? join(group, g->guid[i], !g->n_in || patience_s)
				    : leave(group, g->guid[i]) || patience_s) &&
	       time(NULL) < end)
		usleep(100000);
	if (!got) {
		fprintf(stderr, "mcjoin: group %u: port 0x%016" PRIx64 " refused\n",
			group, g->guid[i]);
		return 0;
	}
	if (g->is_out[i])
		g->mlid = got;
	g->n_in += g->is_out[i] ? 1 : -1u;
	g->is_out[i] = !g->is_out[i];
	return 1;
}

/* All members that are out, or in, go in, or out; 0 when one is refused. */
static int turn_all(struct group *g, unsigned group, int is_out)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->is_out[i] == is_out && !turn(g, group, i))
			return 0;
	return !is_out || g->mlid != 0;
}

/* The first groups go, and those that were refused come. */
static int swap(struct group *groups, unsigned n, unsigned n_gone)
{
	for (unsigned g = 0; g < n_gone && g < n; g++) {
		if (!turn_all(&groups[g], g, 0))
			return 0;
		groups[g].mlid = 0;
	}
	for (unsigned g = n_gone; g < n; g++)
		if (!groups[g].mlid) {
			memset(groups[g].is_out, 1, groups[g].n);
			groups[g].n_in = 0;
			(void)turn_all(&groups[g], g, 1);
		}
	return 1;
}

static void *grown(void *old, size_t bytes)
{
	void *new = realloc(old, bytes);

	if (!new)
		exit(3);
	return new;
}

/* A line of GUIDs. */
static struct group read_group(const char *line)
{
	struct group g = {0};
	char *end;

	for (const char *at = line;; at = end) {
		uint64_t guid = strtoull(at, &end, 16);

		if (end == at)
			return g;
		g.guid = grown(g.guid, (g.n + 1) * sizeof(*g.guid));
		g.is_out = grown(g.is_out, g.n + 1);
		g.guid[g.n] = guid;
		g.is_out[g.n++] = 1;
	}
}

static int churn(struct group *groups, unsigned n, unsigned steps)
{
	uint64_t x = 1;

	for (; steps; steps--) {
		unsigned g;

		x = x * 6364136223846793005u + 1442695040888963407u;
		g = (unsigned)(x >> 33) % n;
		if (!turn(&groups[g], g, (unsigned)(x >> 12) % groups[g].n))
			return 0;
	}
	for (unsigned g = 0; g < n; g++)
		if (!turn_all(&groups[g], g, 1))
			return 0;
	return 1;
}

static void print_clock(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(stderr, "%s %lld.%06ld\n", what, (long long)now.tv_sec,
		now.tv_nsec / 1000);
}

static int client_open(void)
{
	int classes[] = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_SA_CLASS};
	umad_port_t own;

	if (umad_init() || umad_get_port(NULL, 0, &own))
		return -1;
	port = mad_rpc_open_port(own.ca_name, own.portnum, classes, 3);
	umad_release_port(&own);
	if (!port)
		return -1;
	mad_rpc_set_retries(port, RETRIES);
	mad_rpc_set_timeout(port, (int)timeout_ms);
	return ib_resolve_smlid_via(&sm, (int)timeout_ms, port) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct group *groups = NULL;
	unsigned n = 0, steps = 0, n_gone = 0, n_first = 0, n_leave = 0;
	char *line = NULL;
	size_t cap = 0;
	FILE *file;
	int ok = 1, may_refuse = 0, opt;
	unsigned *const numbers[] = {
		['c'] = &steps,	  ['r'] = &n_gone,     ['n'] = &n_first,
		['d'] = &n_leave, ['t'] = &timeout_ms, ['w'] = &patience_s};

	while ((opt = getopt(argc, argv, "6c:r:n:d:t:w:")) != -1) {
		if (opt == '?')
			return 2;
		if (opt == '6')
			is_ipv6 = 1;
		else
			*numbers[opt] = (unsigned)strtoul(optarg, NULL, 10);
		may_refuse |= opt == 'r';
	}
	file = optind + 1 == argc ? fopen(argv[optind], "r") : NULL;
	if (!file) {
		fprintf(stderr,
			"usage: mcjoin [-6] [-c N] [-r N] [-n N | -d N] GROUPS\n");
		return 2;
	}
	if (client_open()) {
		fprintf(stderr, "mcjoin: no port, or no subnet manager\n");
		return 3;
	}
	print_clock("first");
	for (; ok && getline(&line, &cap, file) > 0; n++) {
		struct group g = read_group(line);

		if (n_first && g.n > n_first)
			g.n = n_first;
		if (n_leave)
			memset(g.is_out, 0, g.n);
		for (unsigned i = 0; i < g.n && i < n_leave; i++)
			(void)leave(n, g.guid[i]);
		ok = n_leave || turn_all(&g, n, 1) || may_refuse;
		groups = grown(groups, (n + 1) * sizeof(*groups));
		groups[n] = g;
	}
	ok = ok && (!steps || churn(groups, n, steps));
	ok = ok && (!may_refuse || swap(groups, n, n_gone));
	print_clock("last");
	for (unsigned g = 0; g < n; g++)
		if (groups[g].mlid || may_refuse)
			printf("0x%04x\n", groups[g].mlid);
	mad_rpc_close_port(port);
	return !ok;
}
