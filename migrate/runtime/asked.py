"""What a program may ask of the loop besides training, evaluating and predicting.

Here all of it is there. In the copy that a project gets each of these is decided by
what its programs say (`migrate/around/asked.py`), and with it whether the code that
depends on it comes along.
"""

from __future__ import annotations

# Hooks, scaffolds and listeners: code that looks into steps by a session.
HOOKS: bool = True
# Models that are written for serving, and read again.
EXPORTS: bool = True
# How long the operations of a step took.
TIMES: bool = True
# What hears of each checkpoint, such as an evaluation after it.
LISTENERS: bool = True
# Strategies of several replicas.
REPLICAS: bool = True
# Tasks of a cluster that train together.
CLUSTERS: bool = True
# Variables that begin as those of another model.
WARM_STARTS: bool = True
# Input functions that give the tensors of an iterator.
ITERATORS: bool = True
# Input functions that read through queues.
QUEUES: bool = True
# Steps in an order: updates after others, and variables that the program itself sets.
ORDERED: bool = True
ASSIGNED: bool = True
# The updates of layers (moving averages), taken from a collection.
LAYER_UPDATES: bool = True
# Graphs and sessions of the program's own around the model.
GRAPHS: bool = True
# Weights that a class of layers makes by its own calls.
OWN_WEIGHTS: bool = True
# What TF_CONFIG says of this process.
TASKS: bool = True
# Strategies in a DistributeConfig.
DISTRIBUTE_CONFIGS: bool = True
# Recurrent layers, whose weights Keras names otherwise than TensorFlow 1.
RECURRENT: bool = True
# Layers of classes with a capital before a digit, whose scopes are spelled otherwise.
CLASS_NAMES: bool = True
# Training that goes on in the middle of its data.
RESUMED: bool = True
# Variables that are made in parts.
PARTITIONS: bool = True
# A strategy, or reports of each step, that `rewrite` was asked to put in.
CHOSEN: bool = True
PROFILES: bool = True
# Models of Keras that begin with the weights that they have.
KERAS_WEIGHTS: bool = True
