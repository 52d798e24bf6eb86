// A kernel's printf: formats here and lets the runtime write the text in one piece, so that lines do not mix.
#pragma once

#include <cstdarg>
#include <cstdlib>

// Returns the number of characters written, or a negative number if the format is invalid.
static inline __attribute__((format(printf, 1, 2))) int hiphost_printf(const char* format, ...) {
    char text[512];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof text) {
        hiphost::runtime->print(hiphost::current, text, (uint32_t)length);
    } else if (length > 0) {
        if (char* longer = (char*)malloc((size_t)length + 1)) {
            vsnprintf(longer, (size_t)length + 1, format, again);
            hiphost::runtime->print(hiphost::current, longer, (uint32_t)length);
            free(longer);
        }
    }
    va_end(again);
    return length;
}
// A function-like macro, so that the bare word `printf` in later headers stays unchanged.
#define printf(...) hiphost_printf(__VA_ARGS__)
