/* SPDX-License-Identifier: BSD-2-Clause */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/pmix_node.h"

/* Puts of a client, fences of all of them, Gets of the first one. */
enum { N_PUTS = 4, N_FENCES = 20, N_GETS = 200, VALUE_BYTES = 51 };

void fab_pmix_tell(int records, enum fab_pmix_time what, double us)
{
	const struct fab_pmix_record r = {.what = what, .us = us};

	if (write(records, &r, sizeof(r)) != sizeof(r))
		_exit(1);
}

void fab_pmix_give_up(int records, const char *what, int status)
{
	struct fab_pmix_record r = {.what = FAB_PMIX_N_TIMES};

	snprintf(r.text, sizeof(r.text), "%s: %s", what, PMIx_Error_string(status));
	if (write(records, &r, sizeof(r)) != sizeof(r))
		_exit(2);
	_exit(1);
}

struct client {
	pmix_proc_t me;
	int records;
};

static void need(const struct client *c, const char *what, pmix_status_t status)
{
	if (status != PMIX_SUCCESS)
		fab_pmix_give_up(c->records, what, status);
}

static void put(const struct client *c)
{
	char name[16], bytes[VALUE_BYTES] = "";
	pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
	double start;

	value.data.bo.bytes = bytes;
	value.data.bo.size = sizeof(bytes);
	start = fab_now();
	for (int i = 0; i < N_PUTS; i++) {
		snprintf(name, sizeof(name), "fabkit.%d", i);
		need(c, "PMIx_Put", PMIx_Put(PMIX_GLOBAL, name, &value));
	}
	fab_pmix_tell(c->records, FAB_PMIX_PUT, (fab_now() - start) * 1e6 / N_PUTS);
	start = fab_now();
	need(c, "PMIx_Commit", PMIx_Commit());
	fab_pmix_tell(c->records, FAB_PMIX_COMMIT, (fab_now() - start) * 1e6);
}

static double get_us(const struct client *c, uint32_t rank, int n)
{
	pmix_proc_t of;
	pmix_value_t *value;
	double start;

	PMIX_LOAD_PROCID(&of, c->me.nspace, rank);
	start = fab_now();
	for (int i = 0; i < n; i++) {
		need(c, "PMIx_Get", PMIx_Get(&of, "fabkit.0", NULL, 0, &value));
		PMIX_VALUE_RELEASE(value);
	}
	return (fab_now() - start) * 1e6 / n;
}

static void fence(const struct client *c, int n)
{
	for (int i = 0; i < n; i++)
		need(c, "PMIx_Fence", PMIx_Fence(NULL, 0, NULL, 0));
}

static void measure(const struct client *c)
{
	double start;

	fence(c, 1);
	start = fab_now();
	fence(c, N_FENCES);
	if (c->me.rank)
		return;
	fab_pmix_tell(c->records, FAB_PMIX_FENCE,
		      (fab_now() - start) * 1e6 / N_FENCES / FAB_PMIX_CLIENTS);
	for (uint32_t i = 1; i < FAB_PMIX_CLIENTS; i++)
		fab_pmix_tell(c->records, FAB_PMIX_GET_FIRST, get_us(c, i, 1));
	fab_pmix_tell(c->records, FAB_PMIX_GET, get_us(c, 1, N_GETS));
	for (uint32_t i = 0; i < FAB_PMIX_CLIENTS; i++)
		fab_pmix_tell(c->records, FAB_PMIX_GET_REMOTE,
			      get_us(c, FAB_PMIX_CLIENTS + i, 1));
}

void fab_pmix_client(uint32_t rank, int records, int ready, int end)
{
	struct client c = {.records = records};
	double start = fab_now();
	char byte;

	need(&c, "PMIx_Init", PMIx_Init(&c.me, NULL, 0));
	if (rank < FAB_PMIX_CLIENTS)
		fab_pmix_tell(records, FAB_PMIX_INIT, (fab_now() - start) * 1e6);
	put(&c);
	if (write(ready, "", 1) != 1)
		_exit(1);
	if (rank < FAB_PMIX_CLIENTS)
		measure(&c);
	else if (read(end, &byte, 1) > 0) /* never: until it is closed */
		_exit(1);
	fence(&c, 1);
	need(&c, "PMIx_Finalize", PMIx_Finalize(NULL, 0));
	_exit(0);
}
