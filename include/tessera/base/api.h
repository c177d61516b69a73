#pragma once

// Marks what a shared library exports; everything else is hidden.
#define TESSERA_API __attribute__((visibility("default")))
