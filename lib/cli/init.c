/* SPDX-License-Identifier: BSD-2-Clause */
/* Start and end of a command. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/internal.h"

void fab_cli_message(const char *label, const char *text)
{
	size_t size = 4 * strlen(text) + 8;
	char *safe = fab_text_local(fab_text_safe(text, fab_alloc(size, 1), size));

	fab_cli_progress_hide();
	fprintf(fab_cli_terminal(), "%s: %s%s\n", program_invocation_short_name, label,
		safe);
	free(safe);
}

/* As every program that Ctrl-C ends, so that the shell stops the script that called it.
 */
static void end_by_interrupt(void)
{
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

static bool is_ending;

void fab_cli_expect_end(void)
{
	is_ending = true;
}

/* Did something else than the command end the process? */
static bool was_given_up(int status)
{
	return status == FAB_EXIT_FOUND && !is_ending;
}

/*
 * The last word on standard output: a result that did not arrive must not look like
 * success, not even that of --help. Runs at exit, after all else.
 */
static void close_stdout(int status, void *unused)
{
	int errnum = 0;

	(void)unused;
	if (was_given_up(status)) {
		fab_cli_message("", "a library ended the run, as when the system starts "
				    "no more threads (ulimit -u, pids): nothing was "
				    "written; try --threads=1");
		_exit(FAB_EXIT_ERROR);
	}
	errno = 0;
	if (ferror(stdout) || fclose(stdout) != 0)
		errnum = errno ? errno : EIO;
	/* EBADF: started without a standard output and nothing was printed */
	if (!errnum || errnum == EBADF) {
		if (status == FAB_EXIT_INTERRUPTED)
			end_by_interrupt();
		/* who gives up halfway frees nothing: no matter for a leak checker */
		if (status >= FAB_EXIT_USAGE)
			_exit(status);
		return;
	}
	if (status != FAB_EXIT_ERROR) /* else somebody has said why */
		fprintf(stderr, "%s: cannot write standard output: %s\n",
			program_invocation_short_name, strerror(errnum));
	_exit(FAB_EXIT_ERROR);
}

static void end_by_signal(int signum)
{
	fab_cli_sinks_discard();
	fab_cli_folder_discard();
	raise(signum); /* SA_RESETHAND: now with its default effect */
}

static volatile sig_atomic_t was_interrupted;

/* The next one ends the program as all signals do. */
static void remember_interrupt(int signum)
{
	const struct sigaction action = {.sa_handler = end_by_signal,
					 .sa_flags = (int)SA_RESETHAND};

	was_interrupted = 1;
	sigaction(signum, &action, NULL);
}

void fab_cli_catch_interrupt(void)
{
	struct sigaction action = {.sa_handler = remember_interrupt,
				   .sa_flags = SA_RESTART};
	struct sigaction before;

	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == end_by_signal)
		sigaction(SIGINT, &action, NULL);
}

bool fab_cli_is_interrupted(void *unused)
{
	(void)unused;
	return was_interrupted != 0;
}

/*
 * Every signal whose default effect is to end the process, also those of a fault in it;
 * SIGKILL cannot be caught. A handler that is there already (a sanitizer's) stays, and so
 * does SIG_IGN: nohup and the like have asked to be left alone.
 */
static void catch_signals(void)
{
	static const int harmless[] = {SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP,
				       SIGTTIN, SIGTTOU, SIGURG,  SIGWINCH};
	static char stack[16384]; /* of the handler, when the own one is full */
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	int flags = (int)SA_RESETHAND;

	if (sigaltstack(&alternative, NULL) == 0)
		flags |= SA_ONSTACK;
	for (int signum = 1; signum <= SIGRTMAX; signum++) {
		struct sigaction action = {.sa_handler = end_by_signal,
					   .sa_flags = flags};
		struct sigaction before;
		bool is_deadly = true;

		for (size_t i = 0; i < FAB_COUNT(harmless); i++)
			is_deadly = is_deadly && signum != harmless[i];
		if (is_deadly && sigaction(signum, NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(signum, &action, NULL);
	}
}

void fab_cli_init(const char *program)
{
	static char name[64], version[96];

	snprintf(name, sizeof(name), "%s", program);
	snprintf(version, sizeof(version), "%s (fabkit) %s", program, FAB_VERSION);
	program_invocation_short_name = name;
	argp_program_version = version;
	argp_err_exit_status = FAB_EXIT_USAGE;
	setlocale(LC_CTYPE, ""); /* widths of characters; numbers stay in the C locale */
	on_exit(close_stdout, NULL);
	atexit(fab_cli_sinks_discard);
	atexit(fab_cli_folder_discard);
	atexit(fab_cli_progress_hide);
	/* whoever started us may have had it ignored: a closed pipe ends us quietly */
	signal(SIGPIPE, SIG_DFL);
	catch_signals();
}

double fab_cli_seconds(const struct fab_cli_run *run)
{
	return fab_now() - run->started;
}

static void say(const char *label, const char *format, va_list values)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, values);
	fab_cli_message(label, text);
}

void fab_cli_warn(const struct fab_cli_run *run, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (!run || !run->quiet)
		say("warning: ", format, values);
	va_end(values);
}

void fab_cli_note(const struct fab_cli_run *run, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (!run->quiet)
		say("", format, values);
	va_end(values);
}

const char *fab_cli_tmp_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}
