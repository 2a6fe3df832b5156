// The input of one output position of a channels-last convolution as a row of
// K bytes in (kernel row, kernel column, channel) order.
#ifndef RUNTIME_KERNELS_IM2COL_IM2COL_H_
#define RUNTIME_KERNELS_IM2COL_IM2COL_H_

#include <cstdint>

#include "runtime/numerics/window.h"

namespace fold::kernels {

// Writes kernel_height * kernel_width * depth bytes, for the channels
// first_channel .. first_channel + depth - 1, then zeros up to row_bytes.
// A byte is the code xor `flip`; outside the image it is `padding` as it
// stands.
void Im2ColRow(const Window& window, const uint8_t* image, int64_t out_y,
               int64_t out_x, int64_t first_channel, int64_t depth,
               uint8_t flip, uint8_t padding, uint8_t* row, int64_t row_bytes);

void Im2ColRowReference(const Window& window, const uint8_t* image,
                        int64_t out_y, int64_t out_x, int64_t first_channel,
                        int64_t depth, uint8_t flip, uint8_t padding,
                        uint8_t* row, int64_t row_bytes);

}  // namespace fold::kernels

#endif  // RUNTIME_KERNELS_IM2COL_IM2COL_H_
