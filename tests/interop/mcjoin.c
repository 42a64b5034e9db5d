/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: mcjoin GROUPS   join ports to multicast groups of the running subnet manager
 *
 * GROUPS has a group a line: the GUIDs of its member ports. Every member joins as a full
 * member under its own port GID, all by requests of the one port this runs on. The MLID
 * of each group is printed, a line each, in hexadecimal. Group i has the MGID
 * ff12:4d54::<i>.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

enum {
	TIMEOUT_MS = 3000,
	RETRIES = 20,
	FULL_MEMBER = 1,
	FULL_PKEY = 0xffff,
	GROUP_QKEY = 0x10000,
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

struct client {
	struct ibmad_port *port;
	ib_portid_t sm;
	uint64_t prefix;
};

static void put_u64(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> (56 - 8 * i));
}

/* The first member of a group creates it. 0 when refused, else the MLID. */
static unsigned join(const struct client *c, unsigned group, uint64_t guid, int is_first)
{
	uint8_t record[IB_SA_DATA_SIZE] = {0};
	uint8_t mgid[16] = {0xff, 0x12, 0x4d, 0x54}, gid[16];
	ib_portid_t sm = c->sm;
	ib_sa_call_t call = {.attrid = IB_SA_ATTR_MCRECORD,
			     .method = IB_MAD_METHOD_SET,
			     .mask = is_first ? TO_CREATE : TO_JOIN};

	put_u64(mgid + 8, group);
	put_u64(gid, c->prefix);
	put_u64(gid + 8, guid);
	mad_set_array(record, 0, IB_SA_MCM_MGID_F, mgid);
	mad_set_array(record, 0, IB_SA_MCM_PORTGID_F, gid);
	mad_set_field(record, 0, IB_SA_MCM_JOIN_STATE_F, FULL_MEMBER);
	if (is_first) {
		mad_set_field(record, 0, IB_SA_MCM_QKEY_F, GROUP_QKEY);
		mad_set_field(record, 0, IB_SA_MCM_PKEY_F, FULL_PKEY);
		record[MTU_AT] = EXACTLY | MTU_256;
		record[RATE_AT] = EXACTLY | RATE_2_5_GBPS;
	}
	if (!sa_rpc_call(c->port, record, &sm, &call, TIMEOUT_MS))
		return 0;
	return mad_get_field(record, 0, IB_SA_MCM_MLID_F);
}

/* All members of a line; returns whether the subnet manager took them. */
static int join_line(const struct client *c, unsigned group, const char *line)
{
	unsigned mlid = 0;
	char *end;

	for (const char *at = line;; at = end) {
		uint64_t guid;
		unsigned got;

		errno = 0;
		guid = strtoull(at, &end, 16);
		if (end == at)
			break;
		got = join(c, group, guid, !mlid);
		if (!got || errno == ERANGE) {
			fprintf(stderr,
				"mcjoin: group %u: port 0x%016" PRIx64 " refused\n",
				group, guid);
			return 0;
		}
		mlid = got;
	}
	printf("0x%04x\n", mlid);
	return mlid != 0;
}

static int client_open(struct client *c)
{
	int classes[] = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_SA_CLASS};
	umad_port_t port;

	if (umad_init() || umad_get_port(NULL, 0, &port))
		return -1;
	c->prefix = ((uint64_t)0xfe80) << 48;
	c->port = mad_rpc_open_port(port.ca_name, port.portnum, classes, 3);
	umad_release_port(&port);
	if (!c->port)
		return -1;
	mad_rpc_set_retries(c->port, RETRIES);
	mad_rpc_set_timeout(c->port, TIMEOUT_MS);
	memset(&c->sm, 0, sizeof(c->sm));
	return ib_resolve_smlid_via(&c->sm, TIMEOUT_MS, c->port) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	FILE *groups = argc == 2 ? fopen(argv[1], "r") : NULL;
	struct client c;
	char *line = NULL;
	size_t cap = 0;
	int ok = 1;

	if (!groups) {
		fprintf(stderr, "usage: mcjoin GROUPS\n");
		return 2;
	}
	if (client_open(&c)) {
		fprintf(stderr, "mcjoin: no port, or no subnet manager\n");
		fclose(groups);
		return 3;
	}
	for (unsigned i = 0; ok && getline(&line, &cap, groups) > 0; i++)
		ok = join_line(&c, i, line);
	free(line);
	fclose(groups);
	mad_rpc_close_port(c.port);
	return ok ? 0 : 1;
}
