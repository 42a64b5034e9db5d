/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers and a writer at work, in memory that processes could share. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "launch/locks.h"

enum {
	LINE = 64,
	N_WORDS = 8,
	N_COPIES = 1024, /* of published data: none is written again while it is read */
	WRITE_NS = 1000000,
	READS_A_LOOK = 64, /* reads between two looks at the clock's flag */
};

struct record {
	_Alignas(LINE) _Atomic uint64_t word[N_WORDS];
};

struct own {
	_Alignas(LINE) pthread_mutex_t signal;
	_Alignas(LINE) pthread_mutex_t read;
};

struct store {
	_Alignas(LINE) pthread_rwlock_t rwlock;
	_Alignas(LINE) _Atomic uint32_t is_writing;
	_Alignas(LINE) _Atomic uint32_t published; /* number of a copy */
	_Alignas(LINE) _Atomic bool stop;
	_Atomic uint32_t n_running;
	struct record copy[N_COPIES];
	struct own own[];
};

struct worker {
	struct store *store;
	const struct fab_lock_loop *loop;
	uint32_t number;
	pthread_t thread;
	uint64_t reads, torn, sum;
	double cpu_s;
	/* of the writer */
	uint64_t writes;
	double wait_s, longest_s;
};

/* All words of a record are the same, or it is torn. */
static void look(struct worker *w, const struct record *r)
{
	uint64_t first = atomic_load_explicit(&r->word[0], memory_order_relaxed);

	for (int i = 1; i < N_WORDS; i++)
		w->torn +=
			atomic_load_explicit(&r->word[i], memory_order_relaxed) != first;
	w->sum += first;
}

static void read_once(struct worker *w)
{
	struct store *s = w->store;
	struct own *own = &s->own[w->number];

	switch (w->loop->lock) {
	case FAB_LOCK_RWLOCK:
		pthread_rwlock_rdlock(&s->rwlock);
		look(w, &s->copy[0]);
		pthread_rwlock_unlock(&s->rwlock);
		return;
	case FAB_LOCK_2N:
		pthread_mutex_lock(&own->signal);
		pthread_mutex_lock(&own->read);
		pthread_mutex_unlock(&own->signal);
		look(w, &s->copy[0]);
		pthread_mutex_unlock(&own->read);
		return;
	case FAB_LOCK_MUTEX_FLAG:
		while (atomic_load_explicit(&s->is_writing, memory_order_acquire) &&
		       !atomic_load_explicit(&s->stop, memory_order_relaxed))
			sched_yield();
		pthread_mutex_lock(&own->read);
		look(w, &s->copy[0]);
		pthread_mutex_unlock(&own->read);
		return;
	default:
		look(w,
		     &s->copy[atomic_load_explicit(&s->published, memory_order_acquire)]);
	}
}

static void *read_on(void *context)
{
	struct worker *w = context;
	struct timespec cpu;

	atomic_fetch_add(&w->store->n_running, 1);
	while (!atomic_load_explicit(&w->store->stop, memory_order_relaxed))
		for (int i = 0; i < READS_A_LOOK; i++) {
			read_once(w);
			w->reads++;
		}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	w->cpu_s = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9;
	return NULL;
}

static void fill(struct record *r, uint64_t value)
{
	for (int i = 0; i < N_WORDS; i++)
		atomic_store_explicit(&r->word[i], value, memory_order_relaxed);
}

/* Take what a writer needs. */
static void lock_all(struct store *s, const struct fab_lock_loop *loop)
{
	if (loop->lock == FAB_LOCK_RWLOCK)
		pthread_rwlock_wrlock(&s->rwlock);
	if (loop->lock == FAB_LOCK_MUTEX_FLAG)
		atomic_store(&s->is_writing, 1);
	for (uint32_t i = 0; i < loop->readers && loop->lock == FAB_LOCK_2N; i++)
		pthread_mutex_lock(&s->own[i].signal);
	for (uint32_t i = 0; i < loop->readers && (loop->lock == FAB_LOCK_2N ||
						   loop->lock == FAB_LOCK_MUTEX_FLAG);
	     i++)
		pthread_mutex_lock(&s->own[i].read);
}

static void unlock_all(struct store *s, const struct fab_lock_loop *loop)
{
	for (uint32_t i = 0; i < loop->readers && (loop->lock == FAB_LOCK_2N ||
						   loop->lock == FAB_LOCK_MUTEX_FLAG);
	     i++)
		pthread_mutex_unlock(&s->own[i].read);
	for (uint32_t i = 0; i < loop->readers && loop->lock == FAB_LOCK_2N; i++)
		pthread_mutex_unlock(&s->own[i].signal);
	if (loop->lock == FAB_LOCK_MUTEX_FLAG)
		atomic_store(&s->is_writing, 0);
	if (loop->lock == FAB_LOCK_RWLOCK)
		pthread_rwlock_unlock(&s->rwlock);
}

static void write_once(struct worker *w)
{
	struct store *s = w->store;
	uint32_t next = (atomic_load(&s->published) + 1) % N_COPIES;

	if (w->loop->lock == FAB_LOCK_POINTER) {
		fill(&s->copy[next], w->writes + 1);
		atomic_store_explicit(&s->published, next, memory_order_release);
	} else {
		fill(&s->copy[0], w->writes + 1);
	}
}

static void *write_on(void *context)
{
	struct worker *w = context;
	const struct timespec pause = {.tv_nsec = WRITE_NS};

	atomic_fetch_add(&w->store->n_running, 1);
	while (!atomic_load_explicit(&w->store->stop, memory_order_relaxed)) {
		double start = fab_now(), wait;
		bool is_late;

		lock_all(w->store, w->loop);
		wait = fab_now() - start;
		/* what it got only because all others have gone is no wait that ended */
		is_late = atomic_load_explicit(&w->store->stop, memory_order_relaxed);
		write_once(w);
		unlock_all(w->store, w->loop);
		w->longest_s = fmax(w->longest_s, wait);
		if (is_late)
			break;
		w->wait_s += wait;
		w->writes++;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void init_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static struct store *new_store(const struct fab_lock_loop *loop, size_t *size)
{
	pthread_rwlockattr_t attributes;
	struct store *s;

	*size = sizeof(*s) + loop->readers * sizeof(s->own[0]);
	s = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		fab_oom(*size);
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&s->rwlock, &attributes);
	pthread_rwlockattr_destroy(&attributes);
	for (uint32_t i = 0; i < loop->readers; i++) {
		init_mutex(&s->own[i].signal);
		init_mutex(&s->own[i].read);
	}
	return s;
}

static void free_store(struct store *s, uint32_t readers, size_t size)
{
	for (uint32_t i = 0; i < readers; i++) {
		pthread_mutex_destroy(&s->own[i].signal);
		pthread_mutex_destroy(&s->own[i].read);
	}
	pthread_rwlock_destroy(&s->rwlock);
	munmap(s, size);
}

static void sum_up(const struct worker *w, uint32_t readers, struct fab_lock_times *out)
{
	double cpu_s = 0;

	*out = (struct fab_lock_times){.writes = w[readers].writes};
	for (uint32_t i = 0; i < readers; i++) {
		out->reads += w[i].reads;
		out->torn += w[i].torn;
		cpu_s += w[i].cpu_s;
	}
	out->read_ns = out->reads ? cpu_s * 1e9 / (double)out->reads : (double)NAN;
	out->wait_us =
		out->writes ? w[readers].wait_s * 1e6 / (double)out->writes : (double)NAN;
	out->longest_us = w[readers].longest_s * 1e6;
}

int fab_lock_measure(const struct fab_lock_loop *loop, struct fab_lock_times *out,
		     struct fab_err *err)
{
	uint32_t n = loop->readers + loop->has_writer, started = 0;
	struct timespec t = {.tv_sec = (time_t)loop->seconds,
			     .tv_nsec = (long)(fmod(loop->seconds, 1) * 1e9)};
	struct worker *w;
	struct store *s;
	size_t size;
	int rc = 0;

	if (!loop->readers || loop->readers > FAB_LOCK_READERS_MAX)
		return fab_fail(err, EINVAL, "%u readers: expected 1 to %d",
				loop->readers, FAB_LOCK_READERS_MAX);
	s = new_store(loop, &size);
	w = FAB_NEW0(loop->readers + 1, struct worker);
	for (; started < n && !rc; started += !rc) {
		w[started] = (struct worker){.store = s, .loop = loop, .number = started};
		rc = pthread_create(&w[started].thread, NULL,
				    started < loop->readers ? read_on : write_on,
				    &w[started]);
	}
	while (!rc && atomic_load(&s->n_running) < n)
		sched_yield();
	if (!rc)
		nanosleep(&t, NULL);
	atomic_store(&s->stop, true);
	for (uint32_t i = 0; i < started; i++)
		pthread_join(w[i].thread, NULL);
	if (rc)
		rc = fab_fail(err, rc, "no thread for reader %u: %s", started,
			      strerror(rc));
	else
		sum_up(w, loop->readers, out);
	free(w);
	free_store(s, loop->readers, size);
	return rc;
}
