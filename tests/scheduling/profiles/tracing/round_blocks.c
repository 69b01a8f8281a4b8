/* usage: round_blocks COUNT...: the rounds that are kept of a loop which ran as often, without running it, a line each. */
#include "../../../../gridportal/runtime/trace/rounds.c"

#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        printf("{\"count\": %d", atoi(argv[i]));
        write_round_numbers(stdout, atoi(argv[i]));
        puts("}");
    }
    return 0;
}
