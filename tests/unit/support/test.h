/* SPDX-License-Identifier: BSD-2-Clause */
/* What every suite needs: assertions, errors, fabrics, owners of local objects. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "support/data.h"
#include "support/gen.h"
#include "support/nets.h"
#include "support/own.h"
#include "support/plan.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Criterion's macro of all assertions writes the report of a failure in line, which
 * doubles the time to compile a suite: a call here. */
#undef cr_assert_impl
#define cr_assert_impl(end, condition, ...)                                              \
	((condition)                                                                     \
		 ? (void)0                                                               \
		 : (test_report(__FILE__, __LINE__,                                      \
				CR_TRANSLATE_DEF_MSG_(CR_VA_TAIL(__VA_ARGS__)),          \
				"x" CR_VA_TAIL(CR_VA_TAIL(CR_VA_TAIL(__VA_ARGS__)))),    \
		    end()))

/* Reports a failed assertion: the message by the format, whose first character does not
 * count, or where it is empty the expression, which is freed. */
void test_report(const char *file, unsigned line, char *expression, const char *format,
		 ...) __attribute__((format(printf, 4, 5)));

/* Under sanitizers one in so many of the drawn cases is tried; soak.sh draws new ones. */
#ifdef __SANITIZE_ADDRESS__
enum { TEST_SHARE = 8 };
#else
enum { TEST_SHARE = 1 };
#endif

/* One in so many of all cases is tried: one in `share`, under sanitizers of those one in
 * TEST_SHARE; all where FAB_TEST_FULL is in the environment, as tests/tools/soak.sh runs
 * them. */
static inline uint32_t test_step(uint32_t share)
{
	return getenv("FAB_TEST_FULL") ? 1 : share * TEST_SHARE;
}

/* So many of `all` cases, at least `least`. */
static inline uint32_t test_some(uint32_t all, uint32_t share, uint32_t least)
{
	uint32_t n = all / test_step(share);

	return n > least ? n : least;
}

/* Other cases are drawn with another number in FAB_TEST_SEED, as tests/tools/soak.sh
 * does. */
static inline struct fab_rng test_rng(uint64_t seed)
{
	const char *draw = getenv("FAB_TEST_SEED");
	struct fab_rng rng;

	fab_rng_init(&rng, seed + (draw ? strtoull(draw, NULL, 10) << 32 : 0));
	return rng;
}

/* Do the cases drawn reach a rare one? Those of another draw need not. */
static inline bool test_reaches(bool does)
{
	return does || getenv("FAB_TEST_SEED");
}

/* One of the numbers below n. */
static inline uint32_t test_below(struct fab_rng *rng, uint64_t n)
{
	return (uint32_t)fab_rng_below(rng, n);
}

/* What the last call with ERR as its argument said. */
extern struct fab_err test_err;
/* For the argument `struct fab_err *` of a call: test_err, emptied. */
#define ERR test_err_empty()
static inline struct fab_err *test_err_empty(void)
{
	test_err.text[0] = '\0';
	return &test_err;
}

/* The call, with ERR, gives 0. */
#define MUST(call) cr_assert_eq(call, 0, "%s", test_err.text)
/* The call, with ERR, gives the error (0: any), and its message has the part, or is the
 * whole. */
#define FAILS(call, error, part) test_fails(__FILE__, __LINE__, call, error, part, false)
#define FAILS_AS(call, error, whole)                                                     \
	test_fails(__FILE__, __LINE__, call, error, whole, true)
void test_fails(const char *file, int line, int got, int error, const char *message,
		bool is_whole);

/* The text has, or has not, the part. */
#define HAS(text, part) cr_expect(strstr(text, part), "no '%s' in: %s", part, text)
#define LACKS(text, part) cr_expect(!strstr(text, part), "'%s' in: %s", part, text)

/* The text that the call writes to the file `out`, on the heap. */
#define TEXT_BY(out, call)                                                               \
	__extension__({                                                                  \
		char *text_ = NULL;                                                      \
		size_t size_;                                                            \
		FILE *out = open_memstream(&text_, &size_);                              \
                                                                                         \
		call;                                                                    \
		fclose(out);                                                             \
		text_;                                                                   \
	})

/* A test that is run n times, each in a process of its own; *number is 0 .. n - 1. */
#define TEST_EACH(number, n, suite, name)                                                \
	ParameterizedTestParameters(suite, name)                                         \
	{                                                                                \
		static int numbers[n];                                                   \
                                                                                         \
		for (int i = 0; i < (int)(n); i++)                                       \
			numbers[i] = i;                                                  \
		return cr_make_param_array(int, numbers, n, NULL);                       \
	}                                                                                \
	ParameterizedTest(int *number, suite, name)
