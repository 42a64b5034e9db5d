/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/test.h"

struct fab_err test_err;

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
