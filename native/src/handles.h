// The complete types behind the two handles, for the entry points.
#pragma once

#include "session.h"
#include "spec.h"

namespace spb {

int32_t sequence_count(const spec & s);
int32_t sequence_count(const session & s);

} // namespace spb
