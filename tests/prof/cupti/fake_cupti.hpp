// A CUPTI for tests: a library with the functions that the recorder loads, and handles to make it
// deliver records and callbacks. $FAKE_CUPTI says what fails: "subscribe=39 enable.10=35
// version=120000 drop=5".
#pragma once

#include <cupti.h>

extern "C" {
/// Hands `size` bytes of records over as CUPTI's worker would.
void fake_deliver(const void* records, size_t size);
/// Calls the subscriber back.
void fake_resource(CUpti_CallbackIdResource id, const CUpti_ResourceData* data);
/// Records that the next forced flush delivers.
void fake_on_flush(const void* records, size_t size);
/// Calls in their order, e.g. "subscribe enable.10".
const char* fake_calls();
}
