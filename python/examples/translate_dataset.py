"""Translates a column of a Hugging Face data set with a trained model.

    python translate_dataset.py MODEL < lines.txt

MODEL is a model folder or a training run.
"""

import sys

import datasets
import tessera


def translated(rows, translator, batch_size=512, **options):
    """The data set with a column "translation" beside its column "text"."""
    return rows.map(
        lambda batch: {"translation": translator(batch["text"], **options)}, batched=True, batch_size=batch_size
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = datasets.Dataset.from_dict({"text": sys.stdin.read().splitlines()})
    for row in translated(rows, tessera.Translator(sys.argv[1])):
        print(row["translation"])


if __name__ == "__main__":
    main()
