// A shared library that is not the run-time compiler.
extern "C" int stwo_not_nvrtc();
extern "C" int stwo_not_nvrtc() { return 1; }
