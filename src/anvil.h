// The facade of the core: what the R bindings and API-level tests include.
#pragma once
#include "backend/eigen/evaluate.h"
#include "backend/llvm/compile.h"
#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"
#include "compiler/compiler.h"
#include "graph/graph.h"
#include "primitives/build.h"
#include "primitives/primitive.h"
#include "primitives/promotion.h"
#include "runtime/executable.h"
#include "transform/reverse.h"
#include "transform/simplify.h"
