"""Models whose every answer is known by construction, and the arithmetic that says what they must answer.

`cycle` is the arithmetic, `expect` and `ngram` turn it into exact rounds of speculation, and `catalogue` writes the
GGUF files. Only writing needs numpy and gguf (`pip install specbind[test]`).
"""
