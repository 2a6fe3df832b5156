# The compiler's identity: a hash over everything that decides an artifact's
# bytes. Run by foldc's build: -DROOT=… -DOUT=… -DVERSIONS=…
file(GLOB_RECURSE sources LIST_DIRECTORIES false RELATIVE ${ROOT}
     ${ROOT}/compiler/*.cc ${ROOT}/compiler/*.h ${ROOT}/compiler/*.def
     ${ROOT}/runtime/format/* ${ROOT}/cmake/*.cmake)
list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
list(SORT sources)
set(text "${VERSIONS}\n")
foreach(source ${sources})
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND text "${source} ${hash}\n")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 32 id)
set(content "// Generated: the identity of this build of the compiler.\ninline constexpr char kCompilerId[] = \"foldc-${id}\";\n")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${content}")
  file(WRITE ${OUT} "${content}")
endif()
