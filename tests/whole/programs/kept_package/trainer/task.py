"""Starts training; knows nothing of TensorFlow's insides itself."""

import argparse

from trainer import model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    scores = model.run(args.steps)
    for name in sorted(scores):
        print("%s = %.6f" % (name, scores[name]))


if __name__ == "__main__":
    main()
