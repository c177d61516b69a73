#pragma once

// Everything a program needs to noise, learn and sample discrete data with a network of its own.

#include <tessera/base/error.h>
#include <tessera/base/random.h>
#include <tessera/base/safetensors.h>
#include <tessera/base/value_checks.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/engine/engine.h>
#include <tessera/imaging/image_sampler.h>
#include <tessera/model/translator.h>
#include <tessera/process/boundary.h>
#include <tessera/process/boundary_family.h>
#include <tessera/process/clock.h>
#include <tessera/process/codebook.h>
#include <tessera/process/family.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/process/sampler.h>
#include <tessera/process/trajectory.h>
#include <tessera/version.h>
