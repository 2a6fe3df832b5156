# Writes OUT, a C++ file with the text of each FILES (deploy/targets): run by
# the build, so that foldc and foldd know the targets without a folder.
separate_arguments(FILES UNIX_COMMAND "${FILES}")
set(names "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WLE)
  get_filename_component(folder ${file} DIRECTORY)
  list(APPEND names ${name})
endforeach()
list(SORT names)
set(rows "")
foreach(name ${names})
  file(READ ${folder}/${name}.textproto text)
  string(APPEND rows "    {\"${name}\", R\"~~(${text})~~\"},\n")
endforeach()
file(WRITE ${OUT}
"// Generated from deploy/targets.
#include \"compiler/api/target_file.h\"

namespace fold {
namespace {
constexpr BuiltinTarget kBuiltinTargets[] = {
${rows}};
}  // namespace
std::span<const BuiltinTarget> BuiltinTargets() { return kBuiltinTargets; }
}  // namespace fold
")
