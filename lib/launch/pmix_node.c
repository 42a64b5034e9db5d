/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/pmix_node.h"

#include <errno.h>
#include <fcntl.h>
#include <pmix_server.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { N_SERVED = 100, ENVIRONMENT_BYTES = 1 << 16 };
static const char NSPACE[] = "fabkit";
static const char *const hosts[] = {"fabkit-a", "fabkit-b"};

struct node {
	uint32_t number;
	struct fab_pmix_wires wires;
	pid_t client[FAB_PMIX_CLIENTS];
	int environment[FAB_PMIX_CLIENTS]; /* a client reads its own there */
	int end;			   /* clients of node 1 end when it is closed */
	int ready; /* a byte of each client whose keys are there, then the end of all */
};
/* PMIx's upcalls have no context. */
static struct node node;

/* A request for data of the other node: the server there sends `token` back. */
struct question {
	uint32_t rank;
	void *token;
};
struct answer {
	void *token;
	int32_t status;
	uint64_t n; /* bytes that follow */
};
struct asked {
	pmix_modex_cbfunc_t cb;
	void *data;
};

static void need(const char *what, pmix_status_t status)
{
	if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
		fab_pmix_give_up(node.wires.records, what, status);
}

/* The other end is gone: so are we. */
static void write_all(int fd, const void *bytes, size_t n)
{
	for (const char *at = bytes; n;) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			_exit(1);
		at += k;
		n -= (size_t)k;
	}
}

/* false: the other end is closed. */
static bool read_all(int fd, void *bytes, size_t n)
{
	for (char *at = bytes; n;) {
		ssize_t k = read(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

static pmix_status_t come_or_go(const pmix_proc_t *proc, void *object,
				pmix_op_cbfunc_t cb, void *data)
{
	(void)proc, (void)object, (void)cb, (void)data;
	return PMIX_OPERATION_SUCCEEDED;
}

/* No network: a fence ends when the node's clients are there. */
static pmix_status_t fence(const pmix_proc_t procs[], size_t n_procs,
			   const pmix_info_t info[], size_t n_info, char *data, size_t n,
			   pmix_modex_cbfunc_t cb, void *cb_data)
{
	(void)procs, (void)n_procs, (void)info, (void)n_info, (void)n;
	free(data);
	cb(PMIX_SUCCESS, NULL, 0, cb_data, NULL, NULL);
	return PMIX_SUCCESS;
}

static pmix_status_t ask(const pmix_proc_t *proc, const pmix_info_t info[], size_t n_info,
			 pmix_modex_cbfunc_t cb, void *cb_data)
{
	struct asked *asked = FAB_NEW(1, struct asked);
	struct question q;

	(void)info, (void)n_info;
	*asked = (struct asked){cb, cb_data};
	memset(&q, 0, sizeof(q));
	q.rank = proc->rank;
	q.token = asked;
	write_all(node.wires.peer, &q, sizeof(q));
	return PMIX_SUCCESS;
}

/* One answer to what ask() asked; false: the other server is gone. */
static bool take_answer(void)
{
	struct answer a;
	struct asked *asked;
	char *bytes;

	if (!read_all(node.wires.peer, &a, sizeof(a)))
		return false;
	asked = a.token;
	bytes = fab_alloc(a.n + 1, 1);
	if (!read_all(node.wires.peer, bytes, a.n))
		return false;
	asked->cb(a.status, bytes, a.n, asked->data, free, bytes);
	free(asked);
	return true;
}

struct wait {
	sem_t done;
	pmix_status_t status;
	char *bytes;
	size_t n;
};

static void done(pmix_status_t status, void *context)
{
	struct wait *w = context;

	w->status = status;
	sem_post(&w->done);
}

static void wait_for(const char *what, pmix_status_t status, struct wait *w)
{
	if (status == PMIX_SUCCESS) {
		while (sem_wait(&w->done))
			;
		status = w->status;
	}
	need(what, status);
}

/* Microseconds of registering a job of `n` processes here and as many there. */
static double register_job(const char *nspace, uint32_t n)
{
	char nodes[64], ranks[16 * FAB_PMIX_MANY], *at = ranks, *nodes_regex,
						   *ranks_regex;
	uint32_t size = 2 * n;
	struct wait w = {.n = 0};
	pmix_info_t *info;
	double start;

	for (uint32_t i = 0; i < size; i++)
		at += sprintf(at, "%s%u", !i ? "" : i == n ? ";" : ",", i);
	snprintf(nodes, sizeof(nodes), "%s,%s", hosts[0], hosts[1]);
	need("PMIx_generate_regex", PMIx_generate_regex(nodes, &nodes_regex));
	need("PMIx_generate_ppn", PMIx_generate_ppn(ranks, &ranks_regex));
	PMIX_INFO_CREATE(info, 5);
	PMIX_INFO_LOAD(&info[0], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[1], PMIX_JOB_SIZE, &size, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[2], PMIX_LOCAL_SIZE, &n, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[3], PMIX_NODE_MAP, nodes_regex, PMIX_REGEX);
	PMIX_INFO_LOAD(&info[4], PMIX_PROC_MAP, ranks_regex, PMIX_REGEX);
	sem_init(&w.done, 0, 0);
	start = fab_now();
	wait_for("PMIx_server_register_nspace",
		 PMIx_server_register_nspace(nspace, (int)n, info, 5, done, &w), &w);
	start = fab_now() - start;
	PMIX_INFO_FREE(info, 5);
	sem_destroy(&w.done);
	return start * 1e6;
}

static void got(pmix_status_t status, char *data, size_t n, void *context)
{
	struct wait *w = context;

	w->status = status;
	w->bytes = fab_alloc(n + 1, 1);
	w->n = n;
	if (n)
		memcpy(w->bytes, data, n);
	sem_post(&w->done);
}

/* Data of one of our clients, for the other server; `out` on the heap. */
static void fetch(uint32_t rank, struct wait *out)
{
	pmix_proc_t proc;

	*out = (struct wait){.n = 0};
	sem_init(&out->done, 0, 0);
	PMIX_LOAD_PROCID(&proc, NSPACE, rank);
	wait_for("PMIx_server_dmodex_request",
		 PMIx_server_dmodex_request(&proc, got, out), out);
	sem_destroy(&out->done);
}

/* Requests of the other node, until it is gone. */
static void serve(void)
{
	struct question q;
	struct answer a;
	struct wait w;
	uint32_t rank = 0;
	double start;

	while (read_all(node.wires.peer, &q, sizeof(q))) {
		rank = q.rank;
		fetch(rank, &w);
		memset(&a, 0, sizeof(a));
		a.token = q.token;
		a.status = w.status;
		a.n = w.n;
		write_all(node.wires.peer, &a, sizeof(a));
		write_all(node.wires.peer, w.bytes, w.n);
		free(w.bytes);
	}
	if (!rank)
		return;
	start = fab_now();
	for (int i = 0; i < N_SERVED; i++) {
		fetch(rank, &w);
		free(w.bytes);
	}
	fab_pmix_tell(node.wires.records, FAB_PMIX_SERVE,
		      (fab_now() - start) * 1e6 / N_SERVED);
}

/* The environment comes over `from`: strings, each with its end. */
static void be_client(uint32_t rank, int from, int ready, int end)
{
	char *text = fab_zalloc(ENVIRONMENT_BYTES + 1, 1);
	size_t n = 0;
	ssize_t k;

	while ((k = read(from, text + n, ENVIRONMENT_BYTES - n)) > 0)
		n += (size_t)k;
	if (!n)
		_exit(1); /* the server gave up */
	for (char *at = text; at < text + n; at += strlen(at) + 1)
		if (strchr(at, '='))
			putenv(at);
	fab_pmix_client(rank, node.wires.records, ready, end);
}

/* Before anything of PMIx is there, which a fork would tear. */
static void fork_clients(void)
{
	int end[2], ready[2];

	if (pipe2(end, O_CLOEXEC) || pipe2(ready, O_CLOEXEC))
		_exit(1);
	for (uint32_t i = 0; i < FAB_PMIX_CLIENTS; i++) {
		int environment[2];

		if (pipe2(environment, O_CLOEXEC))
			_exit(1);
		node.client[i] = fork();
		if (node.client[i] < 0)
			_exit(1);
		if (!node.client[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (uint32_t k = 0; k < i; k++)
				close(node.environment[k]);
			close(environment[1]);
			close(end[1]);
			close(ready[0]);
			close(node.wires.peer);
			be_client(node.number * FAB_PMIX_CLIENTS + i, environment[0],
				  ready[1], end[0]);
		}
		close(environment[0]);
		node.environment[i] = environment[1];
	}
	close(end[0]);
	close(ready[1]);
	node.end = end[1];
	node.ready = ready[0];
}

/* One after the other, so that each is timed alone. */
static void start_client(uint32_t i)
{
	struct wait w = {.n = 0};
	pmix_proc_t proc;
	char **env = FAB_NEW0(1, char *), byte;

	sem_init(&w.done, 0, 0);
	PMIX_LOAD_PROCID(&proc, NSPACE, node.number * FAB_PMIX_CLIENTS + i);
	wait_for("PMIx_server_register_client",
		 PMIx_server_register_client(&proc, getuid(), getgid(), NULL, done, &w),
		 &w);
	sem_destroy(&w.done);
	need("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &env));
	for (char **e = env; *e; e++)
		write_all(node.environment[i], *e, strlen(*e) + 1);
	close(node.environment[i]);
	if (!read_all(node.ready, &byte, 1))
		_exit(1); /* it has told why */
			  /* env is PMIx's, ours to keep */
}

static void init_server(void)
{
	static pmix_server_module_t module = {.client_connected = come_or_go,
					      .client_finalized = come_or_go,
					      .fence_nb = fence,
					      .direct_modex = ask};
	pmix_info_t info[3];

	PMIX_INFO_LOAD(&info[0], PMIX_HOSTNAME, hosts[node.number], PMIX_STRING);
	PMIX_INFO_LOAD(&info[1], PMIX_SERVER_TMPDIR, node.wires.dir, PMIX_STRING);
	PMIX_INFO_LOAD(&info[2], PMIX_SYSTEM_TMPDIR, node.wires.dir, PMIX_STRING);
	need("PMIx_server_init", PMIx_server_init(&module, info, FAB_COUNT(info)));
}

/* Node 0: answers of the other server, until all clients are gone. */
static void wait_for_clients(void)
{
	struct pollfd fds[] = {{.fd = node.wires.peer, .events = POLLIN},
			       {.fd = node.ready, .events = POLLIN}};

	for (;;) {
		if (poll(fds, FAB_COUNT(fds), -1) < 0 && errno != EINTR)
			_exit(1);
		if (fds[0].revents && !take_answer())
			_exit(1);
		if (fds[1].revents)
			return;
	}
}

/* The clients of node 1 before those of node 0. */
static void start_clients(void)
{
	char byte = 0;

	if (!node.number && !read_all(node.wires.peer, &byte, 1))
		_exit(1);
	for (uint32_t i = 0; i < FAB_PMIX_CLIENTS; i++)
		start_client(i);
	if (node.number)
		write_all(node.wires.peer, &byte, 1);
}

void fab_pmix_node(uint32_t number, const struct fab_pmix_wires *wires)
{
	int status, bad = 0;

	node.number = number;
	node.wires = *wires;
	fork_clients();
	init_server();
	if (!number) {
		fab_pmix_tell(wires->records, FAB_PMIX_FEW_US,
			      register_job("fabkit-few", FAB_PMIX_FEW));
		fab_pmix_tell(wires->records, FAB_PMIX_MANY_US,
			      register_job("fabkit-many", FAB_PMIX_MANY));
	}
	register_job(NSPACE, FAB_PMIX_CLIENTS);
	start_clients();
	if (number)
		serve();
	else
		wait_for_clients();
	close(node.end);
	for (uint32_t i = 0; i < FAB_PMIX_CLIENTS; i++)
		bad |= waitpid(node.client[i], &status, 0) < 0 || status;
	shutdown(wires->peer, SHUT_RDWR);
	PMIx_server_finalize();
	_exit(bad != 0);
}
