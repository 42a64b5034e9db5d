/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: pmix_size CONFIGURATIONS SEED
 * What libpmix really sends: a server of our own for one node of two, whose clients put
 * keys and fence; every byte of the contribution is compared with fab_size_encode(), in
 * any order of the processes, which is that in which they come to the fence.
 */
#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"
#include "launch/size.h"

extern char **environ;

static const char KEYS[] = "FAB_PMIX_KEYS";

struct configuration {
	char keys[200];
	struct fab_puts puts;
	uint32_t ppn, first_rank;
};

/* Of the fence under way; written by PMIx's thread, read after all clients are gone. */
static struct {
	const struct configuration *c;
	size_t n;
	int is_equal;
} got;

static const struct fab_size_layout layout = {.opts = FAB_SIZE_LIBRARY};

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cb,
			       void *data)
{
	(void)proc, (void)object, (void)cb, (void)data;
	return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t n_procs,
			   const pmix_info_t info[], size_t n_info, char *data, size_t n,
			   pmix_modex_cbfunc_t cb, void *cb_data)
{
	int64_t difference[256] = {0};
	size_t expected;
	FAB_AUTOFREE unsigned char *bytes = fab_size_encode(
		&got.c->puts, &layout, got.c->first_rank, got.c->ppn, &expected);

	(void)procs, (void)n_procs, (void)info, (void)n_info;
	got.n = n;
	for (size_t i = 0; i < n; i++)
		difference[(unsigned char)data[i]]++;
	for (size_t i = 0; i < expected; i++)
		difference[bytes[i]]--;
	got.is_equal = n == expected;
	for (int i = 0; i < 256; i++)
		got.is_equal = got.is_equal && !difference[i];
	free(data);
	cb(PMIX_SUCCESS, NULL, 0, cb_data, NULL, NULL);
	return PMIX_SUCCESS;
}

static int client(const char *keys)
{
	struct fab_puts puts = {0};
	char name[FAB_KEY_MAX_CHARS + 1];
	pmix_proc_t me;
	pmix_info_t info;
	bool yes = true;

	if (fab_puts_parse(keys, &puts, NULL) || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
		return 1;
	for (uint64_t i = 0; i < fab_puts_keys(&puts); i++) {
		const struct fab_put *put = fab_puts_name(&puts, i, name);
		pmix_value_t value = {.type = PMIX_BYTE_OBJECT};

		value.data.bo.bytes = fab_alloc(put->bytes + 1, 1);
		memset(value.data.bo.bytes, FAB_SIZE_FILLER, put->bytes);
		value.data.bo.size = put->bytes;
		if (PMIx_Put(PMIX_GLOBAL, name, &value) != PMIX_SUCCESS)
			return 1;
		free(value.data.bo.bytes);
	}
	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
	if (PMIx_Commit() != PMIX_SUCCESS ||
	    PMIx_Fence(NULL, 0, &info, 1) != PMIX_SUCCESS)
		return 1;
	return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

static void done(pmix_status_t status, void *flag)
{
	(void)status;
	__atomic_store_n((int *)flag, 1, __ATOMIC_RELEASE);
}

/* Wait for what was asked for, unless it was done at once. */
static void settle(pmix_status_t status, int *flag)
{
	while (status == PMIX_SUCCESS && !__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(50);
}

/* "5,6,7;0,1,2,3,4,8": ranks of this node, then those of the other one. */
static char *ranks_text(const struct configuration *c)
{
	size_t size = 8 * ((size_t)c->first_rank + c->ppn) + 32;
	char *text = fab_alloc(size, 1), *at = text;

	for (uint32_t i = 0; i < c->ppn; i++)
		at += sprintf(at, "%s%u", i ? "," : "", c->first_rank + i);
	at += sprintf(at, ";%u", c->first_rank + c->ppn);
	for (uint32_t i = 0; i < c->first_rank; i++)
		at += sprintf(at, ",%u", i);
	return text;
}

static void register_namespace(const struct configuration *c, const char *nspace)
{
	char host[128] = "", nodes[160], *nodes_regex, *ranks_regex;
	FAB_AUTOFREE char *ranks = ranks_text(c);
	uint32_t size = c->first_rank + c->ppn + 1, local = c->ppn;
	pmix_info_t *info;
	int flag = 0;

	gethostname(host, sizeof(host) - 1);
	snprintf(nodes, sizeof(nodes), "%s,another", host);
	PMIx_generate_regex(nodes, &nodes_regex);
	PMIx_generate_ppn(ranks, &ranks_regex);
	PMIX_INFO_CREATE(info, 5);
	PMIX_INFO_LOAD(&info[0], PMIX_UNIV_SIZE, &size, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[1], PMIX_JOB_SIZE, &size, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[2], PMIX_LOCAL_SIZE, &local, PMIX_UINT32);
	PMIX_INFO_LOAD(&info[3], PMIX_NODE_MAP, nodes_regex, PMIX_REGEX);
	PMIX_INFO_LOAD(&info[4], PMIX_PROC_MAP, ranks_regex, PMIX_REGEX);
	settle(PMIx_server_register_nspace(nspace, (int)c->ppn, info, 5, done, &flag),
	       &flag);
}

static void start(const struct configuration *c, const char *nspace, uint32_t rank,
		  char **argv)
{
	pmix_proc_t proc;
	char **env;
	size_t n = 0;
	int flag = 0;

	PMIX_LOAD_PROCID(&proc, nspace, rank);
	settle(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, done, &flag),
	       &flag);
	while (environ[n])
		n++;
	env = fab_zalloc(n + 2, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		env[i] = fab_strdup(environ[i]);
	env[n] = fab_format("%s=%s", KEYS, c->keys);
	PMIx_server_setup_fork(&proc, &env);
	if (!fork()) {
		execve("/proc/self/exe", argv, env);
		_exit(1);
	}
}

static void draw(struct configuration *c, struct fab_rng *rng)
{
	static const uint64_t steps[] = {0,   1,   21,	  51,	 127,
					 128, 300, 16383, 16384, 70000};
	uint32_t n = 1 + (uint32_t)fab_rng_below(rng, 3);
	char *at = c->keys;

	c->ppn = 1 + (uint32_t)fab_rng_below(rng, 6);
	c->first_rank = fab_rng_below(rng, 4) ? 0 : 124;
	for (uint32_t i = 0; i < n; i++)
		at += sprintf(at, "%s%u:%u:%u", i ? "," : "",
			      1 + (unsigned)fab_rng_below(rng, i ? 130 : 3),
			      (unsigned)(fab_rng_below(rng, 2)
						 ? steps[fab_rng_below(rng, 10)]
						 : fab_rng_below(rng, 400)),
			      1 + (unsigned)fab_rng_below(rng, i == 1 ? 70 : 4));
	c->puts.of.n = 0;
}

/* One configuration: 0, when every byte is as it should be. */
static int try(const struct configuration *c, uint64_t number, char **argv)
{
	pmix_nspace_t nspace;
	int status, bad = 0;

	snprintf(nspace, sizeof(nspace), "job%d", (int)number);
	got.c = c;
	got.n = 0;
	got.is_equal = 0;
	register_namespace(c, nspace);
	for (uint32_t i = 0; i < c->ppn; i++)
		start(c, nspace, c->first_rank + i, argv);
	for (uint32_t i = 0; i < c->ppn; i++)
		bad |= wait(&status) < 0 || status;
	if (bad || !got.is_equal)
		printf("%s: %u processes from rank %u, %s: %zu bytes, expected %llu%s\n",
		       bad ? "client failed" : "differs", c->ppn, c->first_rank, c->keys,
		       got.n,
		       (unsigned long long)fab_size_node(&c->puts, &layout, c->first_rank,
							 c->ppn),
		       got.n ? "" : " (no fence)");
	PMIx_server_deregister_nspace(nspace, NULL, NULL);
	return bad || !got.is_equal;
}

int main(int argc, char **argv)
{
	static pmix_server_module_t module = {.client_connected = connected,
					      .client_finalized = connected,
					      .fence_nb = fence};
	struct configuration c = {0};
	struct fab_rng rng;
	uint64_t n = 0, seed = 0;
	int failed = 0;

	if (getenv(KEYS))
		return client(getenv(KEYS));
	if (argc != 3 || !fab_parse_u64(argv[1], strlen(argv[1]), 1, 100000, &n) ||
	    !fab_parse_u64(argv[2], strlen(argv[2]), 0, UINT64_MAX, &seed))
		return 2;
	if (PMIx_server_init(&module, NULL, 0) != PMIX_SUCCESS) {
		puts("PMIx_server_init failed");
		return 77;
	}
	printf("%s\n", PMIx_Get_version());
	fab_rng_init(&rng, seed);
	for (uint64_t i = 0; i < n; i++) {
		do
			draw(&c, &rng);
		while (fab_puts_parse(c.keys, &c.puts, NULL));
		failed += try(&c, i, argv);
	}
	printf("%d of %llu configurations differ\n", failed, (unsigned long long)n);
	free(c.puts.of.v);
	PMIx_server_finalize();
	return failed != 0;
}
