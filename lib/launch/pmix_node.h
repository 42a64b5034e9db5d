/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job of two nodes that are both here, to time libpmix: a server of each node and its
 * clients, each a process of its own. Servers answer fences at once and ask each other
 * for data over a socket, so that the library is timed and no network.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { FAB_PMIX_CLIENTS = 4, FAB_PMIX_FEW = 4, FAB_PMIX_MANY = 128 };

/* Microseconds of ... */
enum fab_pmix_time {
	FAB_PMIX_INIT,	     /* PMIx_Init */
	FAB_PMIX_FEW_US,     /* PMIx_server_register_nspace, FAB_PMIX_FEW processes */
	FAB_PMIX_MANY_US,    /* the same of FAB_PMIX_MANY */
	FAB_PMIX_PUT,	     /* PMIx_Put */
	FAB_PMIX_COMMIT,     /* PMIx_Commit */
	FAB_PMIX_FENCE,	     /* PMIx_Fence, for each client of the node */
	FAB_PMIX_GET,	     /* PMIx_Get, there already */
	FAB_PMIX_GET_FIRST,  /* the first one of a process of the node */
	FAB_PMIX_GET_REMOTE, /* of a process of the other node, by direct modex */
	FAB_PMIX_SERVE,	     /* the server there, for such a request */
	FAB_PMIX_N_TIMES,
};

/* What processes tell the one that started them; FAB_PMIX_N_TIMES: what went wrong. */
struct fab_pmix_record {
	uint32_t what;
	double us;
	char text[112];
};

/* Open files of the processes. */
struct fab_pmix_wires {
	int records;	 /* written by all */
	int peer;	 /* socket to the other node's server */
	const char *dir; /* for files of the servers */
};

/* Tell a time, or what went wrong and end. O(1). */
void fab_pmix_tell(int records, enum fab_pmix_time what, double us);
_Noreturn void fab_pmix_give_up(int records, const char *what, int status);

/* Be the server of node 0 or 1, until all its clients are gone; forks them first. */
_Noreturn void fab_pmix_node(uint32_t node, const struct fab_pmix_wires *wires);
/* Be one of its clients; the environment is that of PMIx_server_setup_fork(). A byte goes
 * to `ready` when its keys are there. Clients of node 1 end when `end` is closed at the
 * other side. */
_Noreturn void fab_pmix_client(uint32_t rank, int records, int ready, int end);
