/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into OpenSM under ibsim: traps that it sends time out, as a kernel would have
 * it. ibsim drops every answer to a trap and knows no time-outs, so that OpenSM waits for
 * ever for the end of its next sweep. The time-out is delivered before the next message
 * that OpenSM takes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

enum { METHOD_AT = 3, TRAP = 5, MOST = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int agent;
	char umad[sizeof(struct ib_user_mad) + IB_MAD_SIZE];
} trap[MOST];
static int n_traps;

/* The function of this name that would be called without this library. */
static void next(const char *name, void *function, size_t size)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, size);
}

int umad_send(int port, int agent, void *umad, int length, int timeout_ms, int retries)
{
	static int (*send)(int, int, void *, int, int, int);
	const unsigned char *mad = umad_get_mad(umad);

	if (!send)
		next("umad_send", &send, sizeof(send));
	if (mad[METHOD_AT] == TRAP && timeout_ms && length <= IB_MAD_SIZE) {
		pthread_mutex_lock(&mutex);
		if (n_traps < MOST) {
			trap[n_traps].agent = agent;
			memcpy(trap[n_traps++].umad, umad,
			       sizeof(struct ib_user_mad) + (size_t)length);
		}
		pthread_mutex_unlock(&mutex);
	}
	return send(port, agent, umad, length, timeout_ms, retries);
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	static int (*recv)(int, void *, int *, int);
	int agent = -1;

	if (!recv)
		next("umad_recv", &recv, sizeof(recv));
	pthread_mutex_lock(&mutex);
	if (n_traps) {
		agent = trap[--n_traps].agent;
		memcpy(umad, trap[n_traps].umad, sizeof(trap[n_traps].umad));
		((struct ib_user_mad *)umad)->status = ETIMEDOUT;
		*length = IB_MAD_SIZE;
	}
	pthread_mutex_unlock(&mutex);
	return agent >= 0 ? agent : recv(port, umad, length, timeout_ms);
}
