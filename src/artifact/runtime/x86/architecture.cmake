# What of the runtime is written for this architecture, and the names of its system libraries.
set(LATHE_ARCHITECTURE_SOURCES x86/instructions.cpp x86/copy_plane_avx2.cpp x86/copy_plane_avx512.cpp)
set_source_files_properties(x86/copy_plane_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2")
# GCC 12 takes what its own header leaves undefined for a variable that is not set.
set_source_files_properties(x86/copy_plane_avx512.cpp PROPERTIES COMPILE_OPTIONS
  "-mavx512f;-mavx512vl;-mavx512bw;-mavx512dq;-Wno-uninitialized;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
set(LATHE_LOADER_NAME ld-linux-x86-64.so.2)
set(LATHE_LOADER_FUNCTIONS __tls_get_addr@GLIBC_2.3)
set(LATHE_LIBC_FUNCTIONS
  __errno_location@GLIBC_2.2.5 calloc@GLIBC_2.2.5 close@GLIBC_2.2.5 free@GLIBC_2.2.5 getpid@GLIBC_2.2.5
  bcmp@GLIBC_2.2.5 lseek@GLIBC_2.2.5 madvise@GLIBC_2.2.5 malloc@GLIBC_2.2.5 memcmp@GLIBC_2.2.5 memmove@GLIBC_2.2.5
  memset@GLIBC_2.2.5 mmap@GLIBC_2.2.5 munmap@GLIBC_2.2.5 open@GLIBC_2.2.5 posix_memalign@GLIBC_2.2.5
  read@GLIBC_2.2.5 sched_yield@GLIBC_2.2.5 snprintf@GLIBC_2.2.5 strcmp@GLIBC_2.2.5 strlen@GLIBC_2.2.5
  syscall@GLIBC_2.2.5 sysconf@GLIBC_2.2.5 vsnprintf@GLIBC_2.2.5 sched_setaffinity@GLIBC_2.3.4 memcpy@GLIBC_2.14
  clock_gettime@GLIBC_2.17)
set(LATHE_LIBM_FUNCTIONS
  cos@GLIBC_2.2.5 erf@GLIBC_2.2.5 exp@GLIBC_2.2.5 fmod@GLIBC_2.2.5 log@GLIBC_2.2.5 pow@GLIBC_2.2.5 sin@GLIBC_2.2.5
  tanh@GLIBC_2.2.5)
set(LATHE_LIBPTHREAD_FUNCTIONS pthread_create@GLIBC_2.2.5 pthread_join@GLIBC_2.2.5)
