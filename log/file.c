/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c: the checksum of a log's parts.
 */
#include "log/file.h"

/* Bits of a byte are taken from the lowest on. */
#define POLYNOMIAL 0xedb88320u

/* [k][b]: what byte b does to the sum, with k bytes behind it. */
enum { STRIDE = 4 };

static void make_table(uint32_t table[STRIDE][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++)
		for (int k = 1; k < STRIDE; k++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

uint32_t log_crc(uint32_t c, const void *data, size_t n)
{
	static uint32_t table[STRIDE][256];
	const unsigned char *p = data;

	if (!table[STRIDE - 1][255])
		make_table(table);
	c = ~c;
	for (; n >= STRIDE; n -= STRIDE, p += STRIDE) {
		c ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
		c = table[3][c & 255] ^ table[2][c >> 8 & 255] ^ table[1][c >> 16 & 255] ^ table[0][c >> 24];
	}
	for (; n; n--, p++)
		c = c >> 8 ^ table[0][(c ^ *p) & 255];
	return ~c;
}
