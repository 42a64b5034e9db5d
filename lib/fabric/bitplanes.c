/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/bitplanes.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The bits of a byte in the lowest bits of eight bytes. */
static inline uint64_t spread(uint64_t bits)
{
	uint64_t x = bits * 0x0101010101010101u & 0x8040201008040201u;

	return (x + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

static void plain(const uint64_t *planes, const uint64_t *seen, size_t words,
		  int n_planes, size_t used, uint8_t *out)
{
	for (size_t w = 0; w < used; w++)
		for (unsigned shift = 0; shift < 64; shift += 8) {
			uint64_t hops = spread(~seen[w] >> shift & 0xff) * 0xff;

			for (int k = 0; k < n_planes; k++)
				hops |= spread(planes[(size_t)k * words + w] >> shift &
					       0xff)
					<< k;
			memcpy(out + 64 * w + shift, &hops, 8);
		}
}

#if defined(__x86_64__)
/* 32 bits to 32 bytes of 0 or 255: each byte looks at its bit of its byte of the word. */
__attribute__((target("avx2"))) static inline __m256i bytes_of_bits(uint32_t bits)
{
	const __m256i which =
		_mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
				 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
	const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
	__m256i word = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), which);

	return _mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit);
}

__attribute__((target("avx2"))) static void with_avx2(const uint64_t *planes,
						      const uint64_t *seen, size_t words,
						      int n_planes, size_t used,
						      uint8_t *out)
{
	for (size_t half = 0; half < 2 * used; half++) {
		size_t w = half / 2, shift = half % 2 * 32;
		__m256i hops = bytes_of_bits((uint32_t)(~seen[w] >> shift));

		for (int k = 0; k < n_planes; k++) {
			uint32_t bits =
				(uint32_t)(planes[(size_t)k * words + w] >> shift);
			__m256i value = _mm256_set1_epi8((char)(1u << k));

			hops = _mm256_or_si256(
				hops, _mm256_and_si256(bytes_of_bits(bits), value));
		}
		_mm256_storeu_si256((__m256i *)(void *)(out + 32 * half), hops);
	}
}
#endif

fab_bitplanes_fn fab_bitplanes(bool only_plain)
{
#if defined(__x86_64__)
	if (!only_plain && __builtin_cpu_supports("avx2"))
		return with_avx2;
#endif
	(void)only_plain;
	return plain;
}
