// Variants of names mean the same call.
#include "prof/timeline/call_class.hpp"

#include <gtest/gtest.h>

namespace prof {
namespace {

TEST(BaseCallName, DropsVariants) {
  EXPECT_EQ(base_call_name("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(base_call_name("cudaLaunchKernel_ptsz"), "cudaLaunchKernel");
  EXPECT_EQ(base_call_name("cudaMalloc_v3020"), "cudaMalloc");
  EXPECT_EQ(base_call_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(base_call_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(base_call_name("cudaMemcpy_ptds_v7000"), "cudaMemcpy");
  EXPECT_EQ(base_call_name("cuGetProc_v"), "cuGetProc_v");
  EXPECT_EQ(base_call_name("cuD3D10"), "cuD3D10");
  EXPECT_EQ(base_call_name("_v2"), "");
  EXPECT_EQ(base_call_name(""), "");
}

TEST(CallClass, KnowsBothInterfaces) {
  EXPECT_EQ(call_class("cuLaunchKernelEx_ptsz"), CallClass::kKernelLaunch);
  EXPECT_EQ(call_class("cudaLaunchKernelExC_v11060"), CallClass::kKernelLaunch);
  EXPECT_EQ(call_class("cudaGraphLaunch_v10000"), CallClass::kGraphLaunch);
  EXPECT_EQ(call_class("cuGraphInstantiateWithParams_ptsz"), CallClass::kGraphInstantiate);
  EXPECT_EQ(call_class("cudaGraphInstantiateWithFlags_v11040"), CallClass::kGraphInstantiate);
  EXPECT_EQ(call_class("cuGraphExecUpdate_v2"), CallClass::kGraphUpdate);
  EXPECT_EQ(call_class("cudaGraphExecKernelNodeSetParams_v11000"), CallClass::kGraphUpdate);
  EXPECT_EQ(call_class("cuGraphExecDestroy"), CallClass::kOther);
  EXPECT_EQ(call_class("cuGraphUpload_ptsz"), CallClass::kGraphUpload);
  EXPECT_EQ(call_class("cudaDeviceSynchronize_v3020"), CallClass::kDeviceSync);
  EXPECT_EQ(call_class("cuCtxSynchronize"), CallClass::kDeviceSync);
  EXPECT_EQ(call_class("cuStreamSynchronize_ptsz"), CallClass::kStreamSync);
  EXPECT_EQ(call_class("cudaEventSynchronize_v3020"), CallClass::kEventSync);
  EXPECT_EQ(call_class("cuStreamQuery"), CallClass::kStreamQuery);
  EXPECT_EQ(call_class("cudaEventQuery_v3020"), CallClass::kEventQuery);
  EXPECT_EQ(call_class("cudaMemcpyAsync_v3020"), CallClass::kCopy);
  EXPECT_EQ(call_class("cuMemAlloc_v2"), CallClass::kAllocate);
  EXPECT_EQ(call_class("cuMemAllocFromPoolAsync"), CallClass::kAllocate);
  EXPECT_EQ(call_class("cudaFreeAsync_v11020"), CallClass::kRelease);
  EXPECT_EQ(call_class("cuMemHostAlloc"), CallClass::kHostAllocate);
  EXPECT_EQ(call_class("cudaFreeHost_v3020"), CallClass::kHostRelease);
  EXPECT_EQ(call_class("cuMemHostRegister_v2"), CallClass::kHostRegister);
  EXPECT_EQ(call_class("cuModuleLoadDataEx"), CallClass::kModuleLoad);
  EXPECT_EQ(call_class("cuLibraryLoadData"), CallClass::kModuleLoad);
  EXPECT_EQ(call_class("cuDevicePrimaryCtxRetain"), CallClass::kContextCreate);
  EXPECT_EQ(call_class("cuMemcpy"), CallClass::kCopy);
  EXPECT_EQ(call_class("cuInit"), CallClass::kOther);
  EXPECT_EQ(call_class(""), CallClass::kOther);
}

}  // namespace
}  // namespace prof
