// SPDX-License-Identifier: BSD-3-Clause
// A library to be preloaded: paths that begin with /dev/infiniband or /sys/class/infiniband lead
// into the folder UROCE_TREE, where uroce-run has written what a program looks for there. What the
// kernel has at these paths is not seen: its devices are none of the program's.
//
// It stands in front of the calls of the C library that take a path, and hands each of them on, its
// errno and all. It allocates nothing, locks nothing and keeps nothing, so it may be called from a
// signal handler and behind fork() as the C library's own. The C library's calls inside itself
// (glob, nftw) do not come by here, nor do paths that are written in another way.
//
// Its headers must not rename or define what is defined here.
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

// Nothing in the tree has a longer name: uroce-run sees to it.
enum { kPlaceBytes = 512 };

static int begins_with(const char* path, const char* prefix) {
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

// Returns the end of what is there then.
static char* append(char* end, const char* text) {
  while (*text != '\0') *end++ = *text++;
  *end = '\0';
  return end;
}

// `path`, or where it leads: in `place`, of kPlaceBytes.
static const char* redirected(const char* path, char* place) {
  if (path == NULL) return path;
  if (!begins_with(path, "/dev/infiniband") && !begins_with(path, "/sys/class/infiniband")) {
    return path;
  }
  const char* const tree = secure_getenv("UROCE_TREE");
  if (tree == NULL || strlen(tree) + strlen(path) >= kPlaceBytes) return path;
  append(append(place, tree), path);
  return place;
}

// A call with a parameter `path`. The one behind ours is looked up when this library is loaded, or
// by a call that comes still earlier.
#define STAND_IN_FRONT_OF(result, name, parameters, before, arguments) \
  result name parameters;                                              \
  static __typeof__(name)* next_##name;                                \
  __attribute__((constructor)) static void find_##name(void) {         \
    next_##name = (__typeof__(name)*)dlsym(RTLD_NEXT, #name);          \
  }                                                                    \
  result name parameters {                                             \
    char place[kPlaceBytes];                                           \
    before;                                                            \
    if (next_##name == NULL) find_##name();                            \
    path = redirected(path, place);                                    \
    return next_##name arguments;                                      \
  }

// The argument behind `flags`, which is there only if they say so.
#define TAKE_MODE                                                   \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    mode = va_arg(more, mode_t);                                    \
    va_end(more);                                                   \
  }

STAND_IN_FRONT_OF(int, open, (const char* path, int flags, ...), TAKE_MODE, (path, flags, mode))
STAND_IN_FRONT_OF(int, open64, (const char* path, int flags, ...), TAKE_MODE, (path, flags, mode))
STAND_IN_FRONT_OF(int, openat, (int at, const char* path, int flags, ...), TAKE_MODE,
                  (at, path, flags, mode))
STAND_IN_FRONT_OF(int, openat64, (int at, const char* path, int flags, ...), TAKE_MODE,
                  (at, path, flags, mode))
STAND_IN_FRONT_OF(FILE*, fopen, (const char* path, const char* mode), , (path, mode))
STAND_IN_FRONT_OF(FILE*, fopen64, (const char* path, const char* mode), , (path, mode))
STAND_IN_FRONT_OF(DIR*, opendir, (const char* path), , (path))

STAND_IN_FRONT_OF(int, stat, (const char* path, struct stat* to), , (path, to))
STAND_IN_FRONT_OF(int, stat64, (const char* path, struct stat64* to), , (path, to))
STAND_IN_FRONT_OF(int, lstat, (const char* path, struct stat* to), , (path, to))
STAND_IN_FRONT_OF(int, lstat64, (const char* path, struct stat64* to), , (path, to))
STAND_IN_FRONT_OF(int, fstatat, (int at, const char* path, struct stat* to, int flags), ,
                  (at, path, to, flags))
STAND_IN_FRONT_OF(int, fstatat64, (int at, const char* path, struct stat64* to, int flags), ,
                  (at, path, to, flags))
STAND_IN_FRONT_OF(int, statx,
                  (int at, const char* path, int flags, unsigned mask, struct statx* to), ,
                  (at, path, flags, mask, to))
STAND_IN_FRONT_OF(int, access, (const char* path, int mode), , (path, mode))
STAND_IN_FRONT_OF(int, faccessat, (int at, const char* path, int mode, int flags), ,
                  (at, path, mode, flags))

STAND_IN_FRONT_OF(ssize_t, getxattr, (const char* path, const char* name, void* to, size_t size), ,
                  (path, name, to, size))
STAND_IN_FRONT_OF(ssize_t, lgetxattr, (const char* path, const char* name, void* to, size_t size), ,
                  (path, name, to, size))

STAND_IN_FRONT_OF(ssize_t, readlink, (const char* path, char* to, size_t size), , (path, to, size))
STAND_IN_FRONT_OF(ssize_t, readlinkat, (int at, const char* path, char* to, size_t size), ,
                  (at, path, to, size))
STAND_IN_FRONT_OF(char*, realpath, (const char* path, char* to), , (path, to))

// What programs compiled with _FORTIFY_SOURCE call instead.
STAND_IN_FRONT_OF(int, __open_2, (const char* path, int flags), , (path, flags))
STAND_IN_FRONT_OF(int, __open64_2, (const char* path, int flags), , (path, flags))
STAND_IN_FRONT_OF(int, __openat_2, (int at, const char* path, int flags), , (at, path, flags))
STAND_IN_FRONT_OF(int, __openat64_2, (int at, const char* path, int flags), , (at, path, flags))
STAND_IN_FRONT_OF(ssize_t, __readlink_chk, (const char* path, char* to, size_t size, size_t room), ,
                  (path, to, size, room))
STAND_IN_FRONT_OF(ssize_t, __readlinkat_chk,
                  (int at, const char* path, char* to, size_t size, size_t room), ,
                  (at, path, to, size, room))
STAND_IN_FRONT_OF(char*, __realpath_chk, (const char* path, char* to, size_t room), ,
                  (path, to, room))
