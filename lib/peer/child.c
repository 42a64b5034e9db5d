/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

extern char **environ;

/* Processes to end and folders to remove; slots are taken and left by all threads. */
enum { SLOTS = 256 };
static _Atomic(pid_t) running[SLOTS];
static _Atomic(char *) folders[SLOTS];

char *fab_child_find(const char *program)
{
	const char *path = getenv("PATH");
	FAB_AUTOFREE char *all =
		fab_format("%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	char *found = NULL, *rest = all, *dir;

	while (!found && (dir = strsep(&rest, ":"))) {
		found = fab_format("%s/%s", *dir ? dir : ".", program);
		if (access(found, X_OK) != 0) {
			free(found);
			found = NULL;
		}
	}
	return found;
}

/* rm -rf, in a process of its own; async-signal-safe. */
static void remove_folder(char *dir)
{
	char program[] = "rm", flags[] = "-rf", end[] = "--";
	char *const argv[] = {program, flags, end, dir, NULL};
	pid_t pid = fork();

	if (!pid) {
		execve("/bin/rm", argv, environ);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int fab_child_dir_new(const char *parent, char **out, struct fab_err *err)
{
	char *dir = fab_format("%s/fabkit-XXXXXX", parent);

	if (!mkdtemp(dir)) {
		int rc = fab_fail(err, errno, "%s: cannot make a folder: %s", parent,
				  strerror(errno));

		free(dir);
		return rc;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		char *none = NULL;

		if (atomic_compare_exchange_strong(&folders[i], &none, dir))
			break;
	}
	*out = dir;
	return 0;
}

void fab_child_dir_remove(char *dir)
{
	remove_folder(dir);
	for (size_t i = 0; i < SLOTS; i++) {
		char *was = dir;

		atomic_compare_exchange_strong(&folders[i], &was, NULL);
	}
	free(dir);
}

/* Signals as a program expects them: all with their default effect, none blocked. */
static void reset_signals(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int signum = 1; signum <= SIGRTMAX; signum++)
		sigaction(signum, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process: only what is async-signal-safe. */
static void become(char *const *argv, char *const *env, const char *dir, const char *log,
		   pid_t parent)
{
	int in, out;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(dir) != 0)
		_exit(127);
	in = open("/dev/null", O_RDONLY);
	out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(127);
	reset_signals();
	execve(argv[0], argv, env);
	_exit(127);
}

/* Is the variable of this line one of those? */
static bool is_set(const char *const *env, const char *line)
{
	size_t n = strcspn(line, "=") + 1;

	for (; *env; env++)
		if (!strncmp(*env, line, n))
			return true;
	return false;
}

int fab_child_start(struct fab_child *child, char *const *argv, const char *const *env,
		    const char *dir, const char *log, struct fab_err *err)
{
	size_t n = 0, n_own = 0;
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	FAB_AUTOFREE char **both = NULL;
	int errnum;

	*child = (struct fab_child){0};
	while (environ[n])
		n++;
	while (env[n_own])
		n_own++;
	both = FAB_NEW0(n + n_own + 1, char *);
	memcpy(both, env, n_own * sizeof(*both));
	for (size_t i = 0, to = n_own; i < n; i++)
		if (!is_set(env, environ[i]))
			both[to++] = environ[i];
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	errnum = errno;
	if (!pid)
		become(argv, both, dir, log, parent);
	for (size_t i = 0; i < SLOTS && pid > 0; i++) {
		pid_t none = 0;

		if (atomic_compare_exchange_strong(&running[i], &none, pid))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return fab_fail(err, errnum, "cannot start %s: %s", argv[0],
				strerror(errnum));
	child->pid = pid;
	return 0;
}

static void forget(struct fab_child *child, int status)
{
	for (size_t i = 0; i < SLOTS; i++) {
		pid_t was = child->pid;

		atomic_compare_exchange_strong(&running[i], &was, 0);
	}
	child->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(child->end, sizeof(child->end), "was ended by signal %d",
			 WTERMSIG(status));
	else
		snprintf(child->end, sizeof(child->end), "ended with status %d",
			 WEXITSTATUS(status));
}

bool fab_child_has_ended(struct fab_child *child)
{
	int status = 0;
	pid_t pid;

	if (!child->pid)
		return true;
	pid = waitpid(child->pid, &status, WNOHANG);
	if (pid == child->pid || (pid < 0 && errno == ECHILD))
		forget(child, status);
	return !child->pid;
}

void fab_child_stop(struct fab_child *child)
{
	int status = 0;

	if (!child->pid)
		return;
	kill(-child->pid, SIGKILL);
	kill(child->pid, SIGKILL); /* before it has a group of its own */
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	forget(child, status);
}

void fab_child_end_all(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		pid_t pid = atomic_load(&running[i]);

		if (pid <= 0)
			continue;
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		/* it writes into its folder no more */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	for (size_t i = 0; i < SLOTS; i++) {
		char *dir = atomic_exchange(&folders[i], NULL);

		if (dir)
			remove_folder(dir);
	}
}
