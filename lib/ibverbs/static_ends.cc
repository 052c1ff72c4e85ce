// SPDX-License-Identifier: BSD-3-Clause
// Static objects inside the library are never destroyed. exit() would do so, and many programs call
// it in a handler of a signal, which may have come in the middle of malloc(): what frees memory
// then waits for ever. The library is not unloaded either, so nobody misses it; what is to happen
// at exit says so by on_exit(). The library is linked with --wrap=__cxa_atexit, which brings the
// compiler's registrations (and nobody's outside the library) here.
//
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's name
extern "C" int __wrap___cxa_atexit(void (*end)(void*), void* object, void* library);

int __wrap___cxa_atexit(void (*)(void*), void*, void*) { return 0; }
// NOLINTEND(bugprone-reserved-identifier)
