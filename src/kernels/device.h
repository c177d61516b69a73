#pragma once

namespace tessera::kernels::cuda {

// Whether this build's kernels run on CUDA device `index`: compute capability 9.0 or later.
bool has_code_for(int index);

}  // namespace tessera::kernels::cuda
