#!/usr/bin/env python3
"""Writes the seeds that are no plain text: seeds/TARGET/NAME. The others were written by hand."""
import gzip
import json
import lzma
import struct
import zlib
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def seed(target, name, content):
    path = SEEDS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def parts(**files):
    """Several files as one input (reading.h)."""
    return b"\n".join(b"=== " + name.encode() + b"\n" + content for name, content in files.items())


def safetensors(tensors, metadata=None):
    """tensors: name -> (dtype, shape, bytes)"""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def npy(shape, content, dtype="|u1", version=1):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    before = 10 if version == 1 else 12
    text += b" " * (-(before + len(text) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + content


def archive(files, method=0):
    data, directory = b"", b""
    for name, content in files.items():
        check_sum = zlib.crc32(content)
        common = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 33, check_sum, len(content),
                             len(content), len(name), 0)
        directory += (b"PK\x01\x02" + struct.pack("<H", 20) + common
                      + struct.pack("<HHHII", 0, 0, 0, 0, len(data)) + name.encode())
        data += b"PK\x03\x04" + common + name.encode() + content
    return data + directory + b"PK\x05\x06" + struct.pack(
        "<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(data), 0)


def png(width, height, depth, kind, rows, interlaced=0):
    def chunk(name, content):
        return (struct.pack(">I", len(content)) + name + content
                + struct.pack(">I", zlib.crc32(name + content)))
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"tEXt", b"Comment\0seed")
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def idx(shape, content):
    return (struct.pack(">I", 0x0800 | len(shape)) + struct.pack(f">{len(shape)}I", *shape)
            + content)


def ids(sentences):
    return b"".join(struct.pack(f"<{len(each)}i", *each) for each in sentences)


def offsets(sentences):
    ends = [0]
    for each in sentences:
        ends.append(ends[-1] + len(each))
    return struct.pack(f"<{len(ends)}q", *ends)


def main():
    pixels = bytes(range(96))
    seed("arrays", "channels-last.npy", npy((2, 4, 4, 3), pixels))
    seed("arrays", "channels-first.npy", npy((4, 1, 4, 6), pixels, version=2))
    seed("arrays", "floats.npy", npy((6, 2), pixels, "<f8"))
    both = {"images.npy": npy((2, 4, 4, 3), pixels), "labels.npy": npy((2,), bytes(16), "<i8")}
    seed("arrays", "stored.npz", archive(both))

    record = b"\3" + bytes(k % 256 for k in range(3072))
    seed("cifar10", "one-record", parts(train=record, test=b"\7" + record[1:]))
    seed("cifar10", "uneven", parts(train=record, last=record + record, test=record))

    images, labels = idx((3, 2, 2), bytes(12)), idx((3,), b"\0\1\1")
    files = {"train-labels-idx1-ubyte": labels,
             "t10k-images-idx3-ubyte": idx((1, 2, 2), b"abcd"),
             "t10k-labels-idx1-ubyte": idx((1,), b"\1")}
    seed("idx", "plain", parts(**{"train-images-idx3-ubyte": images}, **files))
    packed = gzip.compress(images, mtime=0)
    seed("idx", "gzip", parts(**{"train-images-idx3-ubyte.gz": packed}, **files))

    seed("png", "grey", png(3, 2, 8, 0, b"\0abc\1def"))
    seed("png", "rgb", png(2, 2, 8, 2, b"\2abcdef\4ghijkl"))
    seed("png", "bits-interlaced", png(9, 3, 1, 0, b"\0\xaa" * 9, 1))
    seed("png", "16-bit", png(1, 1, 16, 0, b"\0ab"))

    text = "Ein Hund läuft.\tA dog runs.\r\nZwei\tTwo\n".encode()
    seed("lines", "plain", b"\xef\xbb\xbf" + text)
    seed("lines", "latin-1", "Größe\tsize\n".encode("latin-1"))
    seed("lines", "utf-16", "Größe\tsize\n".encode("utf-16"))
    seed("lines", "gzip", gzip.compress(text, mtime=0) + gzip.compress(text, mtime=0) + bytes(8))
    seed("lines", "xz", lzma.compress(text) + lzma.compress(text))

    floats = struct.pack("<6f", 0, 1, -1, 0.5, float("inf"), 2)
    seed("safetensors", "some", safetensors(
        {"weight": ("F32", [2, 3], floats), "flags": ("BOOL", [2], b"\1\0"),
         "empty": ("I64", [0, 4], b""), "half": ("BF16", [1], b"\0\x3f")}, {"made": "by hand"}))
    seed("safetensors", "scalar", safetensors({"": ("F64", [], struct.pack("<d", 1.5))}))

    def of_set(end):
        return {"mu" + end: ("F64", [2], struct.pack("<2d", 1, 2)),
                "sigma" + end: ("F64", [2, 2], struct.pack("<4d", 2, 0.5, 0.5, 1)),
                "count" + end: ("I64", [1], struct.pack("<q", 10))}
    seed("statistics", "one-set", safetensors(of_set(""), {"extractor": "net.pt", "made": "x"}))
    seed("statistics", "two-sets", safetensors({**of_set("_train"), **of_set("_test")}))
    small = {"mu": ("F16", [1], b"\0\x3c"), "sigma": ("F32", [1, 1], struct.pack("<f", 1)),
             "n": ("U8", [], b"\5")}
    seed("statistics", "small", safetensors(small))

    dictionary = b"a 9\nb 8\nc 7\n"
    about = json.dumps({"format": "tessera-tokenizer", "version": 1, "kind": "words",
                        "raw": False}).encode()
    source, target = [[4, 5, 2], [6, 2]], [[5, 2], [4, 6, 3, 2]]
    counts = struct.pack("<7q", 0, 0, 2, 1, 1, 1, 0)
    files = {"tokenizer.json": about, "dict.txt": dictionary, "train.tgt.counts": counts}
    for split in ["train", "valid"]:
        files |= {f"{split}.src.ids": ids(source), f"{split}.src.offsets": offsets(source),
                  f"{split}.tgt.ids": ids(target), f"{split}.tgt.offsets": offsets(target)}
    files |= {"valid.src.txt": b"a b\nc\n", "valid.tgt.txt": b"b\na c x\n"}
    manifest = {"symbols": 7, "splits": {"train": {"kept": 2}, "valid": {"kept": 2}},
                "files": {name: {} for name in files}}
    seed("corpus", "words", parts(**{"manifest.json": json.dumps(manifest).encode()}, **files))

    images = safetensors({"images": ("U8", [2, 1, 2, 2], bytes(8)),
                          "labels": ("I64", [2], struct.pack("<2q", 0, 1))})
    manifest = {"channels": 1, "height": 2, "width": 2, "classes": ["cat", "dog"],
                "splits": {"train": {"images": 2}, "test": {"images": 2}},
                "files": {"train.safetensors": {}, "test.safetensors": {}}}
    seed("image_set", "labelled", parts(**{
        "manifest.json": json.dumps(manifest).encode(), "train.safetensors": images,
        "test.safetensors": images}))


if __name__ == "__main__":
    main()
