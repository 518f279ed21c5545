"""Names of ``tf.contrib`` that TensorFlow itself still has, elsewhere."""

from __future__ import annotations

from .namespace import Base, Entry, attribute

__all__ = ["CONTRIB_ALIASES", "CONTRIB_PATHS"]

# subpackage -> "old=path.in.tensorflow.compat.v1" (or the same name below a prefix)
_TABLE: dict[str, str] = {
    "autograph": """
        to_code=autograph.to_code to_graph=autograph.to_graph
        set_verbosity=autograph.set_verbosity
    """,
    "batching": "batch_function=nondifferentiable_batch_function",
    "checkpoint": """
        CheckpointManager=train.CheckpointManager
    """,
    "compiler": """
        jit.experimental_jit_scope=xla.experimental.jit_scope
        xla.compile=xla.experimental.compile
    """,
    # In TF 1.3, before tf.data was public.
    "data": """
        Dataset=data.Dataset FixedLengthRecordDataset=data.FixedLengthRecordDataset
        Iterator=data.Iterator TFRecordDataset=data.TFRecordDataset
        TextLineDataset=data.TextLineDataset
    """,
    "deprecated": """
        scalar_summary=summary.scalar histogram_summary=summary.histogram
        image_summary=summary.image audio_summary=summary.audio
        merge_summary=summary.merge merge_all_summaries=summary.merge_all
    """,
    "distributions": """
        Bernoulli=distributions.Bernoulli Beta=distributions.Beta
        Categorical=distributions.Categorical Dirichlet=distributions.Dirichlet
        DirichletMultinomial=distributions.DirichletMultinomial
        Distribution=distributions.Distribution
        Exponential=distributions.Exponential Gamma=distributions.Gamma
        Laplace=distributions.Laplace Multinomial=distributions.Multinomial
        Normal=distributions.Normal StudentT=distributions.StudentT
        Uniform=distributions.Uniform RegisterKL=distributions.RegisterKL
        ReparameterizationType=distributions.ReparameterizationType
        FULLY_REPARAMETERIZED=distributions.FULLY_REPARAMETERIZED
        NOT_REPARAMETERIZED=distributions.NOT_REPARAMETERIZED
        kl_divergence=distributions.kl_divergence
    """,
    "eager": """
        GradientTape=GradientTape Variable=Variable TensorSpec=TensorSpec
        Checkpoint=train.Checkpoint defun=function function=function
        custom_gradient=custom_gradient enable_eager_execution=enable_eager_execution
        executing_eagerly=executing_eagerly in_eager_mode=executing_eagerly
        make_template=make_template py_func=py_function
    """,
    "feature_column": """
        sequence_categorical_column_with_hash_bucket=feature_column.sequence_categorical_column_with_hash_bucket
        sequence_categorical_column_with_identity=feature_column.sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file=feature_column.sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list=feature_column.sequence_categorical_column_with_vocabulary_list
        sequence_numeric_column=feature_column.sequence_numeric_column
    """,
    "nn": "conv1d_transpose=nn.conv1d_transpose",
    "optimizer_v2": """
        AdadeltaOptimizer=train.AdadeltaOptimizer AdagradOptimizer=train.AdagradOptimizer
        AdamOptimizer=train.AdamOptimizer MomentumOptimizer=train.MomentumOptimizer
        GradientDescentOptimizer=train.GradientDescentOptimizer
        RMSPropOptimizer=train.RMSPropOptimizer
    """,
    "signal": """
        frame=signal.frame hamming_window=signal.hamming_window
        hann_window=signal.hann_window inverse_stft=signal.inverse_stft
        inverse_stft_window_fn=signal.inverse_stft_window_fn
        linear_to_mel_weight_matrix=signal.linear_to_mel_weight_matrix
        mfccs_from_log_mel_spectrograms=signal.mfccs_from_log_mel_spectrograms
        overlap_and_add=signal.overlap_and_add stft=signal.stft
    """,
    "stateless": """
        stateless_multinomial=random.stateless_multinomial
        stateless_random_normal=random.stateless_normal
        stateless_random_uniform=random.stateless_uniform
        stateless_truncated_normal=random.stateless_truncated_normal
    """,
    "tpu": """
        batch_parallel=tpu.batch_parallel bfloat16_scope=tpu.bfloat16_scope
        core=tpu.core cross_replica_sum=tpu.cross_replica_sum
        initialize_system=tpu.initialize_system
        outside_compilation=tpu.outside_compilation replicate=tpu.replicate
        rewrite=tpu.rewrite shard=tpu.shard shutdown_system=tpu.shutdown_system
    """,
    "util": """
        constant_value=get_static_value make_ndarray=make_ndarray
        make_tensor_proto=make_tensor_proto
    """,
}


CONTRIB_PATHS: dict[str, str] = {
    f"tf.contrib.{package}.{old}": path
    for package, names in _TABLE.items()
    for old, _, path in (pair.partition("=") for pair in names.split())
}

CONTRIB_ALIASES: dict[str, Entry] = {
    "tf.contrib.keras": Base(attribute("tf_keras.api._v1.keras")),
    **{
        name: attribute(f"tensorflow.compat.v1:{path}")
        for name, path in CONTRIB_PATHS.items()
    },
}
