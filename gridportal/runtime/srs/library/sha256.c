/* SHA-256 of FIPS 180-4, and its HMAC of RFC 2104: all of cryptography that frames need. */
#define _POSIX_C_SOURCE 200809L
#include "depots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 64

struct sha {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[BLOCK];
};

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t word, int by)
{
    return word >> by | word << (32 - by);
}

static void schedule(const unsigned char *block, uint32_t *words)
{
    for (int i = 0; i < 16; i++, block += 4)
        words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t low = words[i - 15], high = words[i - 2];
        low = turned(low, 7) ^ turned(low, 18) ^ low >> 3;
        high = turned(high, 17) ^ turned(high, 19) ^ high >> 10;
        words[i] = words[i - 16] + low + words[i - 7] + high;
    }
}

static void mix(struct sha *sha)
{
    uint32_t words[64], s[8];
    schedule(sha->block, words);
    memcpy(s, sha->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                       constants[i] + words[i];
        uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        sha->state[i] += s[i];
}

static void begin(struct sha *sha)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, first, sizeof first);
    sha->length = 0;
}

static void add(struct sha *sha, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    while (length--) {
        sha->block[sha->length++ % BLOCK] = *at++;
        if (sha->length % BLOCK == 0)
            mix(sha);
    }
}

static void end(struct sha *sha, unsigned char *into)
{
    unsigned char bits[8];
    for (int i = 0; i < 8; i++)
        bits[i] = (unsigned char)(8 * sha->length >> 8 * (7 - i));
    add(sha, "\x80", 1);
    while (sha->length % BLOCK != BLOCK - sizeof bits)
        add(sha, "", 1);
    add(sha, bits, sizeof bits);
    for (int i = 0; i < SRS_HASH; i++)
        into[i] = (unsigned char)(sha->state[i / 4] >> 8 * (3 - i % 4));
}

static void begin_with_key(struct sha *sha, const unsigned char *key, unsigned char pad)
{
    unsigned char block[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        block[i] = (unsigned char)((i < SRS_HASH ? key[i] : 0) ^ pad);
    begin(sha);
    add(sha, block, sizeof block);
}

void srs_hmac(const unsigned char key[SRS_HASH], const struct srs_bytes *pieces, int count, unsigned char into[SRS_HASH])
{
    struct sha sha;
    unsigned char inner[SRS_HASH];
    begin_with_key(&sha, key, 0x36);
    for (int i = 0; i < count; i++)
        add(&sha, pieces[i].at, pieces[i].length);
    end(&sha, inner);
    begin_with_key(&sha, key, 0x5c);
    add(&sha, inner, sizeof inner);
    end(&sha, into);
}

int srs_random(unsigned char *into, size_t length)
{
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, into, length);
    int problem = got == (ssize_t)length ? 0 : srs_fail(SRS_BAD_FILES, "/dev/urandom: %s.", strerror(errno));
    if (file >= 0)
        close(file);
    return problem;
}

void srs_hex(const unsigned char *bytes, size_t length, char *into)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        *into++ = digits[bytes[i] >> 4];
        *into++ = digits[bytes[i] & 15];
    }
    *into = 0;
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 32;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

int srs_unhex(const char *text, unsigned char *into, size_t length)
{
    if (strlen(text) != 2 * length)
        return 0;
    for (; length--; text += 2) {
        int high = digit(text[0]), low = digit(text[1]);
        if (high < 0 || low < 0)
            return 0;
        *into++ = (unsigned char)(high << 4 | low);
    }
    return 1;
}
