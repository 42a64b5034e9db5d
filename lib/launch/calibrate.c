/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/quantile.h"
#include "launch/calibrate_impl.h"
#include "launch/locks.h"

enum { COPY_BYTES = 32 << 20, N_TURNS = 100, PATIENCE = 4096 };

uint32_t fab_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (uint32_t)n : 1;
}

struct fab_steal fab_steal_read(void)
{
	struct fab_steal s = {0};
	FILE *file = fopen("/proc/stat", "re");
	uint64_t v[8];

	if (!file)
		return s;
	if (fscanf(file,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 8) {
		for (int i = 0; i < 8; i++)
			s.all += v[i];
		s.stolen = v[7];
	}
	fclose(file);
	return s;
}

double fab_steal_percent(struct fab_steal before)
{
	struct fab_steal now = fab_steal_read();

	if (now.all <= before.all || now.stolen < before.stolen)
		return (double)NAN;
	return 100.0 * (double)(now.stolen - before.stolen) /
	       (double)(now.all - before.all);
}

/* A line that takes longer did not move between cores: both threads had but one. */
static const double LONGEST_LINE_S = 1e-6;

/* One time: a value in the unit of its constant, negative: an errno. */
typedef double (*measure_fn)(double seconds);

static double copy_ns_per_B(double seconds)
{
	char *from = fab_zalloc(COPY_BYTES, 1), *to = fab_zalloc(COPY_BYTES, 1);
	double start = fab_now(), took;
	uint64_t n = 0;

	do {
		memcpy(to, from, COPY_BYTES);
		from[n % COPY_BYTES] = to[COPY_BYTES - 1 - n % COPY_BYTES];
		n++;
		took = fab_now() - start;
	} while (took < seconds);
	free(from);
	free(to);
	return took * 1e9 / ((double)n * COPY_BYTES);
}

static double lock_ns(double seconds)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	double start = fab_now(), took;
	uint64_t n = 0;

	do {
		for (int i = 0; i < 1000; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
		n += 1000;
		took = fab_now() - start;
	} while (took < seconds);
	return took * 1e9 / (double)n;
}

static double read_ns(double seconds)
{
	struct fab_lock_loop loop = {FAB_LOCK_POINTER, 1, seconds, false};
	struct fab_lock_times times;
	int rc = fab_lock_measure(&loop, &times, NULL);

	return rc ? rc : times.read_ns;
}

/* A counter that goes to and fro between two threads. */
struct pong {
	_Alignas(64) _Atomic uint64_t turn;
	_Alignas(64) _Atomic bool stop;
};

static void *answer_line(void *context)
{
	struct pong *p = context;

	for (uint32_t spins = 0; !atomic_load_explicit(&p->stop, memory_order_relaxed);
	     spins++)
		if (atomic_load_explicit(&p->turn, memory_order_acquire) & 1)
			atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
		else if (spins % PATIENCE == 0)
			sched_yield();
	return NULL;
}

/* So many turns of ours, each answered: seconds a turn; gives up after `seconds`. */
static double play(struct pong *p, double seconds)
{
	double start = fab_now();
	uint64_t end = atomic_load(&p->turn) + 2 * (uint64_t)N_TURNS;

	for (uint32_t spins = 1;
	     atomic_load_explicit(&p->turn, memory_order_acquire) < end; spins++) {
		if (!(atomic_load_explicit(&p->turn, memory_order_acquire) & 1))
			atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
		else if (spins % PATIENCE == 0 && sched_yield() == 0 &&
			 fab_now() - start > seconds)
			return (double)NAN;
	}
	return (fab_now() - start) / (2 * N_TURNS);
}

/* The best of many rounds: in the others one of both threads had no core. */
static double line_ns(double seconds)
{
	double start = fab_now(), best = (double)NAN;
	struct pong *p;
	pthread_t thread;
	int rc;

	if (posix_memalign((void **)&p, 64, sizeof(*p)))
		fab_oom(sizeof(*p));
	atomic_init(&p->turn, 0);
	atomic_init(&p->stop, false);
	rc = pthread_create(&thread, NULL, answer_line, p);
	if (rc) {
		free(p);
		return -rc;
	}
	do
		best = fmin(best, play(p, seconds));
	while (fab_now() - start < seconds);
	atomic_store(&p->stop, true);
	pthread_join(thread, NULL);
	free(p);
	return best < LONGEST_LINE_S ? best * 1e9 : (double)NAN;
}

/* Work handed to another thread, which says when it is done. */
struct shift {
	pthread_mutex_t mutex;
	pthread_cond_t there, done;
	uint64_t asked, answered;
	bool stop;
};

static void *answer_shift(void *context)
{
	struct shift *s = context;

	pthread_mutex_lock(&s->mutex);
	while (!s->stop) {
		while (!s->stop && s->answered == s->asked)
			pthread_cond_wait(&s->there, &s->mutex);
		s->answered = s->asked;
		pthread_cond_signal(&s->done);
	}
	pthread_mutex_unlock(&s->mutex);
	return NULL;
}

static double shift_us(double seconds)
{
	struct shift s = {PTHREAD_MUTEX_INITIALIZER,
			  PTHREAD_COND_INITIALIZER,
			  PTHREAD_COND_INITIALIZER,
			  0,
			  0,
			  false};
	double start = fab_now(), took;
	pthread_t thread;
	uint64_t n = 0;
	int rc = pthread_create(&thread, NULL, answer_shift, &s);

	if (rc)
		return -rc;
	pthread_mutex_lock(&s.mutex);
	do {
		s.asked = ++n;
		pthread_cond_signal(&s.there);
		while (s.answered != n)
			pthread_cond_wait(&s.done, &s.mutex);
		took = fab_now() - start;
	} while (took < seconds);
	s.stop = true;
	pthread_cond_signal(&s.there);
	pthread_mutex_unlock(&s.mutex);
	pthread_join(thread, NULL);
	return took * 1e6 / (double)n;
}

static double fork_ms(double seconds)
{
	char path[] = "/bin/true";
	char *const argv[] = {path, NULL}, *const env[] = {NULL};
	double start = fab_now(), took;
	uint64_t n = 0;

	do {
		pid_t pid;
		int rc = posix_spawn(&pid, path, NULL, NULL, argv, env);

		if (rc)
			return -rc;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		n++;
		took = fab_now() - start;
	} while (took < seconds);
	return took * 1e3 / (double)n;
}

static void *answer_socket(void *context)
{
	int fd = *(const int *)context;
	char request[64];

	while (read(fd, request, sizeof(request)) == sizeof(request))
		if (write(fd, request, sizeof(request)) != sizeof(request))
			break;
	return NULL;
}

static double socket_us(double seconds)
{
	char request[64] = "";
	double start = fab_now(), took = 0;
	pthread_t thread;
	uint64_t n = 0;
	int fd[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	rc = pthread_create(&thread, NULL, answer_socket, &fd[1]);
	while (!rc && took < seconds) {
		if (write(fd[0], request, sizeof(request)) != sizeof(request) ||
		    read(fd[0], request, sizeof(request)) != sizeof(request))
			break;
		n++;
		took = fab_now() - start;
	}
	close(fd[0]);
	if (!rc)
		pthread_join(thread, NULL);
	close(fd[1]);
	return rc ? -rc : n ? took * 1e6 / (double)n : (double)NAN;
}

static const struct {
	enum fab_launch_constant constant;
	measure_fn measure;
	const char *source;
} measures[] = {
	{FAB_CONST_copy_ns_per_B, copy_ns_per_B, "memcpy of 32 MiB"},
	{FAB_CONST_lock_ns, lock_ns, "a mutex nobody else wants, locked and unlocked"},
	{FAB_CONST_read_ns, read_ns, "64 bytes behind a published pointer, one reader"},
	{FAB_CONST_line_ns, line_ns, "a line that two threads write in turn"},
	{FAB_CONST_shift_us, shift_us, "work handed to another thread and back"},
	{FAB_CONST_fork_ms, fork_ms, "posix_spawn of /bin/true until it has ended"},
	{FAB_CONST_pmi2_us, socket_us,
	 "64 bytes over a local socket and back, one client"},
};

void fab_calibration_keep(struct fab_calibration *c, enum fab_launch_constant constant,
			  double times[FAB_CALIBRATION_TIMES], const char *source)
{
	struct fab_launch_value *v = &c->params.of[constant];

	for (int k = 0; k < FAB_CALIBRATION_TIMES; k++)
		if (isnan(times[k]))
			return; /* nothing came of it: as it was */
	qsort(times, FAB_CALIBRATION_TIMES, sizeof(*times), fab_cmp_double);
	*v = (struct fab_launch_value){
		.value = fab_quantile(times, FAB_CALIBRATION_TIMES, 0.5),
		.spread = (times[FAB_CALIBRATION_TIMES - 1] - times[0]) / 2,
		.origin = FAB_MEASURED};
	snprintf(v->source, sizeof(v->source), "%s, %d times, %u cores", source,
		 FAB_CALIBRATION_TIMES, fab_cores());
	c->is_measured[constant] = true;
}

static int measure_one(size_t i, double seconds, struct fab_calibration *out,
		       struct fab_err *err)
{
	double times[FAB_CALIBRATION_TIMES];

	for (int k = 0; k < FAB_CALIBRATION_TIMES; k++) {
		times[k] = measures[i].measure(seconds);
		if (times[k] < 0)
			return fab_fail(err, -(int)times[k], "cannot measure %s: %s",
					measures[i].source, strerror(-(int)times[k]));
	}
	fab_calibration_keep(out, measures[i].constant, times, measures[i].source);
	return 0;
}

int fab_calibrate(double seconds, const char *tmp_dir, struct fab_calibration *out,
		  struct fab_err *err)
{
	struct fab_steal before = fab_steal_read();
	time_t now = time(NULL);
	struct tm utc;
	int rc = 0;

	memset(out->is_measured, 0, sizeof(out->is_measured));
	*out->libpmix = *out->pmix_problem = '\0';
	fab_calibrate_pmix(tmp_dir, out); /* forks: before the threads of the others */
	for (size_t i = 0; i < FAB_COUNT(measures) && !rc; i++)
		rc = measure_one(i, seconds, out, err);
	if (rc)
		return rc;
	if (gethostname(out->params.host, sizeof(out->params.host) - 1))
		*out->params.host = '\0';
	out->params.cores = fab_cores();
	out->params.steal_percent = fab_steal_percent(before);
	strftime(out->params.date, sizeof(out->params.date), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &utc));
	return 0;
}
