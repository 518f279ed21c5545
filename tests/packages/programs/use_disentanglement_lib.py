"""A variational autoencoder on the package's own dummy data, through its trainer."""

import json
import os
import tempfile

import disentanglement_lib.methods.unsupervised.vae  # noqa: F401
from disentanglement_lib.methods.unsupervised import train

FOLDER = os.path.join(tempfile.mkdtemp(), "model")
BINDINGS = [
    "model.model = @vae()",
    "model.training_steps = 3",
    "model.random_seed = 0",
    "model.batch_size = 4",
    "model.eval_steps = 2",
    "dataset.name = 'dummy_data'",
    "encoder.encoder_fn = @fc_encoder",
    "encoder.num_latent = 3",
    "decoder.decoder_fn = @fc_decoder",
    "reconstruction_loss.loss_fn = @bernoulli_loss",
    "vae_optimizer.optimizer_fn = @AdamOptimizer",
    "AdamOptimizer.learning_rate = 0.001",
    "vae.beta = 1.0",
]
train.train_with_gin(FOLDER, True, gin_bindings=BINDINGS)
files = os.path.join(FOLDER, "results", "json", "train_results.json")
with open(files) as stream:
    print("TRAINED 3 {:.6f}".format(json.load(stream)["reconstruction_loss"]))
