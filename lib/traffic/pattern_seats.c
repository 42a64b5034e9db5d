/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of a pattern on the endpoints of a fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/resolver.h"
#include "traffic/pattern.h"

/* An endpoint under sort keys. */
struct seat {
	uint32_t port, sw, port_num;
	uint64_t key;
	const char *name;
};

static int by_fabric(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;

	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->port_num != b->port_num)
		return a->port_num < b->port_num ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static int by_key(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return by_fabric(x, y);
}

static int by_name(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;
	int order = fab_text_natural_cmp(a->name, b->name);

	return order ? order : by_fabric(x, y);
}

/* A seat at a port (FAB_NONE: no port), unless that is on no switch. */
static bool take_seat(const struct fab_fabric *f, uint32_t port, const char *name,
		      struct seat *seat)
{
	uint32_t peer;
	uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);

	if (sw == FAB_NONE)
		return false;
	peer = fab_port_peer(f, port);
	*seat = (struct seat){
		.port = port, .sw = sw, .port_num = f->port_num[peer], .name = name};
	return true;
}

static size_t collect_seats(const struct fab_fabric *f, bool per_host, struct seat *seats)
{
	size_t n = 0;

	if (!per_host) {
		for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
			if (f->node_kind[i] == FAB_ADAPTER)
				n += take_seat(f, fab_node_first_connected_port(f, i),
					       fab_node_name(f, i), &seats[n]);
		return n;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++)
		n += take_seat(f, fab_host_endpoint(f, h), fab_host_name(f, h),
			       &seats[n]);
	return n;
}

/* Endpoints in the order of the pattern: their ports, on the heap. */
static uint32_t *make_seats(const struct fab_fabric *f, const struct fab_pattern *p,
			    size_t *n)
{
	struct seat *seats = FAB_NEW(f->n_nodes, struct seat);
	uint32_t *port = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_rng rng;

	*n = collect_seats(f, p->per_host, seats);
	qsort(seats, *n, sizeof(*seats), by_fabric);
	if (p->order == FAB_ORDER_NAME)
		qsort(seats, *n, sizeof(*seats), by_name);
	fab_rng_init(&rng, p->seed);
	for (size_t i = 0; i < *n; i++)
		seats[i].key = p->order == FAB_ORDER_RANDOM ? fab_rng_next(&rng)
							    : f->port_lid[seats[i].port];
	if (p->order == FAB_ORDER_LID || p->order == FAB_ORDER_RANDOM)
		qsort(seats, *n, sizeof(*seats), by_key);
	for (size_t i = 0; i < *n; i++)
		port[i] = seats[i].port;
	free(seats);
	return port;
}

void fab_seating_begin(const struct fab_seating *s, const char *word, uint64_t a,
		       uint64_t b)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s-%llu-%llu", word,
			   (unsigned long long)a, (unsigned long long)b);

	s->sink->begin(s->sink->context, name, (size_t)len);
}

void fab_seating_add(const struct fab_seating *s, uint64_t process)
{
	s->sink->add(s->sink->context, s->port[process / s->ppn]);
}

static int check_fits(const struct fab_pattern *p, uint64_t n_endpoints,
		      struct fab_err *err)
{
	uint64_t want = p->kind->needs(p);

	if (want <= n_endpoints * p->ppn)
		return 0;
	return fab_fail(
		err, EINVAL,
		"--pattern %s needs %llu processes, the fabric has %llu (%llu %s, "
		"ppn=%llu)",
		p->spec, (unsigned long long)want,
		(unsigned long long)(n_endpoints * p->ppn),
		(unsigned long long)n_endpoints, p->per_host ? "hosts" : "adapters",
		(unsigned long long)p->ppn);
}

int fab_pattern_make(const struct fab_pattern *p, const struct fab_fabric *f,
		     const struct fab_pattern_sink *sink, struct fab_err *err)
{
	size_t n;
	uint32_t *port = make_seats(f, p, &n);
	const struct fab_seating seating = {
		.sink = sink, .port = port, .ppn = p->ppn, .n_processes = n * p->ppn};
	int rc = check_fits(p, n, err);

	if (!rc)
		p->kind->make(p, &seating);
	free(port);
	return rc;
}
