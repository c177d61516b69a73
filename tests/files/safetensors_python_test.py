#!/usr/bin/env python3
"""Our safetensors files and those of Python's `safetensors` are the same.

  safetensors_python_test.py SAFETENSORS_TOOL [--update FIXTURE]

Writes the sample of safetensors_sample.h with both writers, compares the bytes, and reads each file
with the other's reader. Exit code 77 (skipped) where Python has no `safetensors`.
--update writes Python's file to FIXTURE.
"""

import ctypes
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import safetensors
except ImportError:
    print("skipped: this Python has no 'safetensors'")
    sys.exit(77)

SIGNED = [-3, -2, -1, 0, 1, 2]
COUNTS = [0, 1, 2, 3, 4, 5]
METADATA = {"format": "a \\ b"}


def bf16(values):
    return b"".join(struct.pack("<f", value)[2:] for value in values)


# name: (type as Python's writer calls it, type in the file, shape, little-endian bytes)
SAMPLE = {
    "i8": ("int8", "I8", [2, 3], struct.pack("<6b", *SIGNED)),
    "i16": ("int16", "I16", [2, 3], struct.pack("<6h", *SIGNED)),
    "i32": ("int32", "I32", [2, 3], struct.pack("<6i", *SIGNED)),
    "i64": ("int64", "I64", [2, 3], struct.pack("<6q", *SIGNED)),
    "f16": ("float16", "F16", [2, 3], struct.pack("<6e", *SIGNED)),
    "bf16": ("bfloat16", "BF16", [2, 3], bf16(SIGNED)),
    "f32": ("float32", "F32", [2, 3], struct.pack("<6f", *SIGNED)),
    "f64": ("float64", "F64", [2, 3], struct.pack("<6d", *SIGNED)),
    "f8_e4m3": ("float8_e4m3fn", "F8_E4M3", [2, 3], bytes.fromhex("c4c0b8003840")),
    "f8_e5m2": ("float8_e5m2", "F8_E5M2", [2, 3], bytes.fromhex("c2c0bc003c40")),
    "u8": ("uint8", "U8", [2, 3], bytes(COUNTS)),
    "u16": ("uint16", "U16", [2, 3], struct.pack("<6H", *COUNTS)),
    "u32": ("uint32", "U32", [2, 3], struct.pack("<6I", *COUNTS)),
    "u64": ("uint64", "U64", [2, 3], struct.pack("<6Q", *COUNTS)),
    "bool": ("bool", "BOOL", [2, 3], bytes([0, 1, 0, 1, 0, 1])),
    "scalar": ("float32", "F32", [], struct.pack("<f", 1.5)),
    "empty": ("float32", "F32", [0, 3], b""),
    'a "name"\né': ("int64", "I64", [1], struct.pack("<q", -1)),
}


def python_bytes():
    buffers = {
        name: ctypes.create_string_buffer(data, len(data))
        for name, (_, _, _, data) in SAMPLE.items()
    }
    tensors = {}
    for name, (written, _, shape, data) in SAMPLE.items():
        if hasattr(safetensors, "TensorSpec"):  # newer versions take addresses
            tensors[name] = safetensors.TensorSpec(
                dtype=written,
                shape=shape,
                data_ptr=ctypes.addressof(buffers[name]),
                data_len=len(data),
            )
        else:
            tensors[name] = {"dtype": written, "shape": shape, "data": data}
    return bytes(safetensors.serialize(tensors, metadata=METADATA))


def main():
    tool = sys.argv[1]
    theirs = python_bytes()
    if "--update" in sys.argv:
        pathlib.Path(sys.argv[sys.argv.index("--update") + 1]).write_bytes(theirs)
    with tempfile.TemporaryDirectory() as folder:
        our_file = pathlib.Path(folder) / "ours.safetensors"
        their_file = pathlib.Path(folder) / "theirs.safetensors"
        their_file.write_bytes(theirs)
        subprocess.run([tool, "write", str(our_file)], check=True)
        subprocess.run([tool, "check", str(their_file)], check=True)
        subprocess.run([tool, "check", str(our_file)], check=True)
        ours = our_file.read_bytes()

        found = dict(safetensors.deserialize(ours))
        assert found.keys() == SAMPLE.keys(), found.keys() ^ SAMPLE.keys()
        for name, (_, dtype, shape, data) in SAMPLE.items():
            entry = found[name]
            assert entry["dtype"] == dtype, (name, entry["dtype"])
            assert list(entry["shape"]) == shape, (name, entry["shape"])
            assert bytes(entry["data"]) == data, (name, entry["data"])
        assert ours == theirs, "the two writers give different bytes"

        try:
            import numpy
            from safetensors import safe_open
        except ImportError:
            print("passed (without NumPy)")
            return
        with safe_open(str(our_file), framework="numpy") as opened:
            assert opened.metadata() == METADATA
            for name in ("i8", "i16", "i32", "i64", "f16", "f32", "f64"):
                numpy.testing.assert_array_equal(
                    opened.get_tensor(name), numpy.array(SIGNED).reshape(2, 3)
                )
    print("passed")


if __name__ == "__main__":
    main()
