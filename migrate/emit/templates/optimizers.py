"""Optimizers that Keras does not have, for the loops of programs that used them."""


def momentum():
    """The steps of tf.train.MomentumOptimizer."""

    class MomentumOptimizer(tf.keras.optimizers.SGD):
        """Momentum of TF 1: it gathers gradients, where Keras gathers steps."""

        def update_step(X_UPDATE_PARAMETERS):
            # The rate of a step takes all that was gathered, whatever it was before.
            # Rows of a table that a batch does not look up stay as they are.
            if X_KERAS3:
                gathered = self.momentums[self._get_variable_index(variable)].value
            else:
                gathered = self.momentums[self._index_dict[self._var_key(variable)]]
            settings = {
                "var": variable.handle,
                "accum": gathered.handle,
                "lr": tf.cast(X_RATE, variable.dtype),
                "momentum": tf.cast(self.momentum, variable.dtype),
                "use_nesterov": self.nesterov,
            }
            if isinstance(gradient, tf.IndexedSlices):
                if X_KERAS3:
                    # A row that is looked up twice has the sum of both gradients.
                    rows, places = tf.unique(gradient.indices)
                    summed = tf.math.unsorted_segment_sum(
                        gradient.values, places, tf.size(rows)
                    )
                    tf.raw_ops.ResourceSparseApplyMomentum(
                        grad=summed, indices=rows, **settings
                    )
                else:
                    tf.raw_ops.ResourceSparseApplyMomentum(
                        grad=gradient.values, indices=gradient.indices, **settings
                    )
            else:
                tf.raw_ops.ResourceApplyMomentum(grad=gradient, **settings)
