/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of fabric-bootplan about how an image is transferred. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "boot/units.h"
#include "bootplan.h"

enum {
	OPT_FILES = 0x140,
	OPT_EFFICIENCY,
	OPT_REQUEST_TIME,
	OPT_STAGGER,
	OPT_TFTP,
	OPT_SERVER_DISK,
	OPT_SERVER_CONNECTIONS,
	OPT_TIMEOUT,
	OPT_RETRIES,
};
enum { MAX_RETRIES = 100 };
#define MAX_TIME_NS (UINT64_C(1000000000) * 86400)

static const struct argp_option options[] = {
	{.doc = "How it is transferred:", .group = 4},
	{"files", OPT_FILES, "N", 0, "Files that a node asks for, together the image", 4},
	{"efficiency", OPT_EFFICIENCY, "SHARE", 0,
	 "Part of the bytes on the wire that is image, such as 0.94 (default 1)", 4},
	{"request-time", OPT_REQUEST_TIME, "TIME", 0, "Time to ask for a file, as 2ms",
	 4},
	{"stagger", OPT_STAGGER, "TIME", 0,
	 "max-min: every node starts so much after the one before", 4},
	{"tftp", OPT_TFTP, "BLOCK:WINDOW:RTT", 0,
	 "One transfer gets WINDOW blocks of BLOCK bytes a round trip, as 1468:16:200us",
	 4},
	{"server-disk", OPT_SERVER_DISK, "RATE", 0, "A server reads no faster", 4},
	{"server-connections", OPT_SERVER_CONNECTIONS, "N", 0,
	 "max-min: a server serves so many at once, the others wait in order", 4},
	{"timeout", OPT_TIMEOUT, "TIME", 0,
	 "max-min: a node without its image so long after it asked gives up and asks "
	 "again, from the beginning",
	 4},
	{"retries", OPT_RETRIES, "N", 0,
	 "With --timeout: how often a node asks again before it gives up for good "
	 "(default 3)",
	 4},
	{0},
};

static double time_of(const char *option, const char *arg, struct argp_state *state)
{
	uint64_t ns;

	if (!fab_parse_time_ns(arg, strlen(arg), MAX_TIME_NS, &ns))
		argp_error(state,
			   "%s: '%s' is not a time up to a day: expected one as 2ms",
			   option, arg);
	return (double)ns / 1e9;
}

static uint32_t number_of(const char *option, const char *arg, size_t len,
			  struct argp_state *state)
{
	uint64_t n;

	if (!fab_parse_u64(arg, len, 1, 1000000, &n))
		argp_error(state, "%s: '%.*s' is not a number from 1 to 1000000", option,
			   (int)len, arg);
	return (uint32_t)n;
}

static void parse_tftp(struct fab_transfer_options *p, const char *arg,
		       struct argp_state *state)
{
	size_t block = strcspn(arg, ":");
	const char *window = arg + block + (arg[block] != 0);
	size_t len = strcspn(window, ":");
	double rtt;

	if (!arg[block] || !window[len])
		argp_error(state,
			   "--tftp: '%s': expected BLOCK:WINDOW:RTT as 1468:16:200us",
			   arg);
	rtt = time_of("--tftp", window + len + 1, state);
	if (!(rtt > 0))
		argp_error(state, "--tftp: the round trip takes no time");
	p->flow_cap_mbps =
		fab_transfer_tftp_mbps(number_of("--tftp", arg, block, state),
				       number_of("--tftp", window, len, state), rtt);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fab_transfer_options *p = state->input;
	struct fab_err err;
	uint64_t retries;

	switch (key) {
	case OPT_FILES:
		p->n_files = number_of("--files", arg, strlen(arg), state);
		return 0;
	case OPT_EFFICIENCY:
		if (!fab_parse_probability(arg, strlen(arg), &p->efficiency) ||
		    p->efficiency < 0.01)
			argp_error(state,
				   "--efficiency: '%s' is not a number from 0.01 to 1",
				   arg);
		return 0;
	case OPT_REQUEST_TIME:
		p->request_seconds = time_of("--request-time", arg, state);
		return 0;
	case OPT_STAGGER:
		p->stagger_seconds = time_of("--stagger", arg, state);
		return 0;
	case OPT_TFTP:
		parse_tftp(p, arg, state);
		return 0;
	case OPT_SERVER_DISK:
		if (fab_parse_rate_mbps(arg, strlen(arg), &p->server_disk_mbps, &err))
			argp_error(state, "--server-disk: %s", err.text);
		return 0;
	case OPT_SERVER_CONNECTIONS:
		p->server_connections =
			number_of("--server-connections", arg, strlen(arg), state);
		return 0;
	case OPT_TIMEOUT:
		p->timeout_seconds = time_of("--timeout", arg, state);
		if (!(p->timeout_seconds > 0))
			argp_error(state, "--timeout: there is no time to wait");
		return 0;
	case OPT_RETRIES:
		if (!fab_parse_u64(arg, strlen(arg), 0, MAX_RETRIES, &retries))
			argp_error(state, "--retries: '%s' is not a number from 0 to %d",
				   arg, MAX_RETRIES);
		p->retries = (uint32_t)retries;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp bootplan_protocol_argp = {.options = options, .parser = parse};
