#pragma once

// Everything a program needs to noise, learn and sample discrete data with a network of its own.

#include <tessera/base/error.h>
#include <tessera/base/languages.h>
#include <tessera/base/log_sink.h>
#include <tessera/base/out_of_memory.h>
#include <tessera/base/progress_sink.h>
#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>
#include <tessera/engine/engine.h>
#include <tessera/engine/image_sampler.h>
#include <tessera/engine/translator.h>
#include <tessera/evaluation/autoencoder_evaluation.h>
#include <tessera/evaluation/distillation.h>
#include <tessera/evaluation/image_evaluation.h>
#include <tessera/evaluation/model_export.h>
#include <tessera/evaluation/reconstruction.h>
#include <tessera/evaluation/target_scores.h>
#include <tessera/evaluation/text_evaluation.h>
#include <tessera/evaluation/text_scores.h>
#include <tessera/files/safetensors.h>
#include <tessera/process/adaptive_schedule.h>
#include <tessera/process/boundary.h>
#include <tessera/process/boundary_family.h>
#include <tessera/process/clock.h>
#include <tessera/process/codebook.h>
#include <tessera/process/family.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/process/sampler.h>
#include <tessera/process/time_warp.h>
#include <tessera/process/trajectory.h>
#include <tessera/task/training.h>
#include <tessera/tensor/random.h>
#include <tessera/tensor/value_checks.h>
#include <tessera/version.h>
