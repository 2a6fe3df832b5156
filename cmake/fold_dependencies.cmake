# Third-party packages: Debian 12's own, and onnx from its pinned source
# distribution (Debian's is too old to read today's models).
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)

# protobuf is linked by name and not by path, so that `-static` picks
# libprotobuf.a for foldc while foldd shares libprotobuf.so with gRPC.
find_library(FOLD_PROTOBUF_LIBRARY protobuf REQUIRED)
add_library(protobuf::libprotobuf INTERFACE IMPORTED)
set_target_properties(protobuf::libprotobuf PROPERTIES
  INTERFACE_LINK_LIBRARIES "-lprotobuf;Threads::Threads")
find_package(Protobuf REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(GTest CONFIG REQUIRED)
find_package(benchmark CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_program(FOLD_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
find_program(FOLD_FLATC flatc REQUIRED)

if(EXISTS /usr/include/onnx/onnx_pb.h)
  message(FATAL_ERROR "libonnx-dev is installed: it would interpose symbols of the "
          "onnx that foldd builds. Remove the package and configure again.")
endif()

include(fold_onnx)
