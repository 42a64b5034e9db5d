/* SPDX-License-Identifier: BSD-2-Clause */
/* _exit() of a build for coverage (--wrap=_exit), which keeps the counts. */
void __gcov_exit(void) __attribute__((weak)); /* of what was compiled for coverage */
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
	if (__gcov_exit)
		__gcov_exit();
	__real__exit(status);
}
