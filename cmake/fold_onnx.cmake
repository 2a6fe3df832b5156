# onnx 1.23.2 from its source distribution, pinned by hash. Looked for at
# FOLD_ONNX_SDIST (cache variable or environment), then in the cache folder,
# then fetched with pip.
set(FOLD_ONNX_VERSION 1.23.2)
set(FOLD_ONNX_SHA256 008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8)
set(FOLD_ONNX_SDIST "$ENV{FOLD_ONNX_SDIST}" CACHE FILEPATH "onnx source distribution")

if(DEFINED ENV{FOLD_CACHE_DIR})
  set(_fold_cache "$ENV{FOLD_CACHE_DIR}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(_fold_cache "$ENV{XDG_CACHE_HOME}/foldd")
else()
  set(_fold_cache "$ENV{HOME}/.cache/foldd")
endif()
set(_fold_cached "${_fold_cache}/onnx-${FOLD_ONNX_VERSION}.tar.gz")

function(_fold_fetch_onnx destination)
  get_filename_component(folder "${destination}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(WRITE "${CMAKE_BINARY_DIR}/onnx-requirement.txt"
       "onnx==${FOLD_ONNX_VERSION} --hash=sha256:${FOLD_ONNX_SHA256}\n")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --no-deps --no-binary onnx
            --require-hashes -r "${CMAKE_BINARY_DIR}/onnx-requirement.txt" -d "${folder}"
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "pip could not fetch onnx ${FOLD_ONNX_VERSION}; put its source "
            "distribution at ${destination} or set FOLD_ONNX_SDIST")
  endif()
endfunction()

if(NOT FOLD_ONNX_SDIST)
  if(NOT EXISTS "${_fold_cached}")
    _fold_fetch_onnx("${_fold_cached}")
  endif()
  set(_fold_onnx "${_fold_cached}")
else()
  set(_fold_onnx "${FOLD_ONNX_SDIST}")
endif()

set(ONNX_BUILD_PYTHON OFF CACHE BOOL "" FORCE)
set(ONNX_INSTALL OFF CACHE BOOL "" FORCE)
set(ONNX_USE_PROTOBUF_SHARED_LIBS ON CACHE BOOL "" FORCE)
set(ONNX_ML ON CACHE BOOL "" FORCE)
set(ONNX_USE_UNITY_BUILD ON CACHE BOOL "" FORCE)
set(ONNX_BUILD_TESTS OFF CACHE BOOL "" FORCE)
set(ONNX_GEN_PB_TYPE_STUBS OFF CACHE BOOL "" FORCE)

include(FetchContent)
FetchContent_Declare(onnx
  URL "${_fold_onnx}" URL_HASH SHA256=${FOLD_ONNX_SHA256}
  PATCH_COMMAND sed -i "s/cmake_minimum_required(VERSION 3.26)/cmake_minimum_required(VERSION 3.25)/" CMakeLists.txt
  DOWNLOAD_EXTRACT_TIMESTAMP OFF)
FetchContent_GetProperties(onnx)
if(NOT onnx_POPULATED)
  FetchContent_Populate(onnx)
  add_subdirectory("${onnx_SOURCE_DIR}" "${onnx_BINARY_DIR}" EXCLUDE_FROM_ALL SYSTEM)
endif()
