/* SPDX-License-Identifier: BSD-2-Clause */
/* Constants of libpmix: a job of two nodes (pmix_node.h) for each time. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <pmix.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/quantile.h"
#include "launch/calibrate_impl.h"
#include "launch/pmix_node.h"

static const double PATIENCE_S = 20; /* for a job that hangs */

enum { MAX_SAMPLES = 2 * FAB_PMIX_CLIENTS };

/* Of one job, in rising order once settle() was called. */
struct job_times {
	double us[FAB_PMIX_N_TIMES][MAX_SAMPLES];
	uint32_t n[FAB_PMIX_N_TIMES];
};

static double median_us(const struct job_times *t, enum fab_pmix_time what)
{
	return fab_quantile(t->us[what], t->n[what], 0.5);
}

static double init_ms(const struct job_times *t)
{
	return median_us(t, FAB_PMIX_INIT) / 1e3;
}

/* Of a job that is registered, each process, and what remains without one. */
static double register_us(const struct job_times *t)
{
	return fmax(0, (median_us(t, FAB_PMIX_MANY_US) - median_us(t, FAB_PMIX_FEW_US)) /
			       (FAB_PMIX_MANY - FAB_PMIX_FEW));
}

static double register_ms(const struct job_times *t)
{
	return fmax(0, median_us(t, FAB_PMIX_FEW_US) - FAB_PMIX_FEW * register_us(t)) /
	       1e3;
}

/* Constants in the order of the file; .of NULL: the time itself. */
static const struct {
	enum fab_launch_constant constant;
	enum fab_pmix_time time;
	double (*of)(const struct job_times *t);
	const char *source;
} constants[] = {
	{FAB_CONST_init_ms, FAB_PMIX_INIT, init_ms, "PMIx_Init"},
	{FAB_CONST_register_ms, FAB_PMIX_FEW_US, register_ms,
	 "register_nspace of 4 and 128 processes"},
	{FAB_CONST_register_us, FAB_PMIX_MANY_US, register_us, "the same, each process"},
	{FAB_CONST_put_us, FAB_PMIX_PUT, NULL, "PMIx_Put of 51 bytes"},
	{FAB_CONST_commit_us, FAB_PMIX_COMMIT, NULL, "PMIx_Commit of 4 keys"},
	{FAB_CONST_fence_us, FAB_PMIX_FENCE, NULL,
	 "PMIx_Fence of a node, each of 4 clients"},
	{FAB_CONST_get_us, FAB_PMIX_GET, NULL, "PMIx_Get, data present"},
	{FAB_CONST_get_first_us, FAB_PMIX_GET_FIRST, NULL,
	 "first PMIx_Get of each peer of the node"},
	{FAB_CONST_get_remote_us, FAB_PMIX_GET_REMOTE, NULL,
	 "first PMIx_Get by direct modex, no network"},
	{FAB_CONST_serve_us, FAB_PMIX_SERVE, NULL, "PMIx_server_dmodex_request"},
};

/* One side of the job; its group ends with it, and it with us. */
static pid_t fork_node(uint32_t node, pid_t group, const int records[2],
		       const int peers[2], const char *dir)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, group);
	close(records[0]);
	close(peers[!node]);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	fab_pmix_node(node, &(struct fab_pmix_wires){records[1], peers[node], dir});
}

/* Records until all who write them are gone; false: something went wrong. */
static bool gather(int records, struct job_times *out, char *problem, size_t size)
{
	struct pollfd fd = {.fd = records, .events = POLLIN};
	double end = fab_now() + PATIENCE_S;

	for (;;) {
		struct fab_pmix_record r;
		double left_s = end - fab_now();

		if (left_s <= 0 || poll(&fd, 1, (int)(left_s * 1e3) + 1) == 0) {
			snprintf(problem, size, "no end of a job of 8 processes in %g s",
				 PATIENCE_S);
			return false;
		}
		if (!fd.revents)
			continue; /* a signal */
		if (read(records, &r, sizeof(r)) != sizeof(r))
			return true;
		if (r.what >= FAB_PMIX_N_TIMES) {
			snprintf(problem, size, "%.*s", (int)sizeof(r.text), r.text);
			return false;
		}
		if (out->n[r.what] < MAX_SAMPLES)
			out->us[r.what][out->n[r.what]++] = r.us;
	}
}

/* Sort all times; false: one never came. */
static bool settle(struct job_times *t)
{
	bool is_complete = true;

	for (size_t i = 0; i < FAB_PMIX_N_TIMES; i++) {
		qsort(t->us[i], t->n[i], sizeof(**t->us), fab_cmp_double);
		is_complete = is_complete && t->n[i];
	}
	return is_complete;
}

/* Both nodes, and what they tell. */
static bool run_job(const char *dir, struct job_times *out, char *problem, size_t size)
{
	int records[2], peers[2];
	pid_t pid[2] = {-1, -1};
	bool is_good;

	if (pipe2(records, O_CLOEXEC))
		return snprintf(problem, size, "%s", strerror(errno)) < 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, peers)) {
		close(records[0]);
		close(records[1]);
		return snprintf(problem, size, "%s", strerror(errno)) < 0;
	}
	for (uint32_t i = 0; i < 2 && (!i || pid[0] > 0); i++) {
		pid[i] = fork_node(i, i ? pid[0] : 0, records, peers, dir);
		if (pid[i] < 0)
			snprintf(problem, size, "no process for a node: %s",
				 strerror(errno));
		else
			setpgid(pid[i], pid[0]);
	}
	close(records[1]);
	close(peers[0]);
	close(peers[1]);
	is_good = pid[0] > 0 && pid[1] > 0 && gather(records[0], out, problem, size);
	if (!is_good && pid[0] > 0)
		kill(-pid[0], SIGKILL);
	for (uint32_t i = 0; i < 2; i++)
		if (pid[i] > 0)
			waitpid(pid[i], NULL, 0);
	close(records[0]);
	if (is_good && !settle(out)) {
		snprintf(problem, size, "a process ended before it had told its times");
		is_good = false;
	}
	return is_good;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
	(void)s, (void)kind, (void)at;
	return remove(path);
}

static void keep(struct fab_calibration *out,
		 const struct job_times jobs[FAB_CALIBRATION_TIMES])
{
	for (size_t i = 0; i < FAB_COUNT(constants); i++) {
		double times[FAB_CALIBRATION_TIMES];
		char source[128];

		for (int k = 0; k < FAB_CALIBRATION_TIMES; k++)
			times[k] = constants[i].of
					   ? constants[i].of(&jobs[k])
					   : median_us(&jobs[k], constants[i].time);
		snprintf(source, sizeof(source), "here, libpmix %s: %s", out->libpmix,
			 constants[i].source);
		fab_calibration_keep(out, constants[i].constant, times, source);
	}
}

/* "OpenPMIx 4.2.2rc2 (PMIx Standard: ...)": the second word. */
static void take_version(char *out, size_t size)
{
	const char *text = PMIx_Get_version();

	text += strcspn(text, "0123456789");
	snprintf(out, size, "%.*s", (int)strcspn(text, " ,;"), text);
}

void fab_calibrate_pmix(const char *tmp_dir, struct fab_calibration *out)
{
	char dir[256];
	struct job_times jobs[FAB_CALIBRATION_TIMES] = {0};
	bool is_good = true;

	if (snprintf(dir, sizeof(dir), "%s/fabkit-pmix-XXXXXX", tmp_dir) >=
	    (int)sizeof(dir)) {
		snprintf(out->pmix_problem, sizeof(out->pmix_problem), "%.100s: %s",
			 tmp_dir, strerror(ENAMETOOLONG));
		return;
	}
	if (!mkdtemp(dir)) {
		snprintf(out->pmix_problem, sizeof(out->pmix_problem), "%.100s: %s", dir,
			 strerror(errno));
		return;
	}
	for (int k = 0; k < FAB_CALIBRATION_TIMES && is_good; k++)
		is_good = run_job(dir, &jobs[k], out->pmix_problem,
				  sizeof(out->pmix_problem));
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (!is_good)
		return;
	take_version(out->libpmix, sizeof(out->libpmix));
	keep(out, jobs);
}
