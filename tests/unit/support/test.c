/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/test.h"

#include <stdarg.h>

/* Criterion starts libgit2, for differences of texts, in the process of each test, and
 * that reads all certificates of the system, which takes longer than most tests. */
__attribute__((visibility("default"))) int git_libgit2_init(void);
__attribute__((visibility("default"))) int git_libgit2_shutdown(void);
int git_libgit2_init(void)
{
	return 1;
}
int git_libgit2_shutdown(void)
{
	return 0;
}

struct fab_err test_err;

void test_report(const char *file, unsigned line, char *expression, const char *format,
		 ...)
{
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		abort();
	va_end(args);
	criterion_send_assert(&(struct criterion_assert_stats){
		.message = message[1] ? message + 1 : expression,
		.file = file,
		.line = line});
	free(message);
	cr_asprintf_free(expression);
}

void test_fails(const char *file, int line, int got, int error, const char *message,
		bool is_whole)
{
	cr_assert(error ? got == error : got != 0, "%s:%d: result %d, expected %d: %s",
		  file, line, got, error, test_err.text);
	cr_assert(is_whole ? !strcmp(test_err.text, message)
			   : strstr(test_err.text, message) != NULL,
		  "%s:%d: message '%s', expected '%s'", file, line, test_err.text,
		  message);
}
