"""Optimizers that Keras does not have, for the loops of programs that used them."""


def momentum():
    """The steps of tf.train.MomentumOptimizer."""

    class MomentumOptimizer(tf.keras.optimizers.SGD):
        """Momentum of TF 1: it gathers gradients, where Keras gathers steps."""

        def update_step(X_UPDATE_PARAMETERS):
            # The rate of a step takes all that was gathered, whatever it was before.
            # Rows of a table that a batch does not look up stay as they are.
            if X_KERAS3:
                gathered = self.momentums[X_INDEX].value
            else:
                gathered = self.momentums[X_INDEX]
            settings = {
                "var": variable.handle,
                "accum": gathered.handle,
                "lr": tf.cast(X_RATE, variable.dtype),
                "momentum": tf.cast(self.momentum, variable.dtype),
                "use_nesterov": self.nesterov,
            }
            if isinstance(gradient, tf.IndexedSlices):
                X_ROWS
                tf.raw_ops.ResourceSparseApplyMomentum(
                    grad=values, indices=rows, **settings
                )
            else:
                tf.raw_ops.ResourceApplyMomentum(grad=gradient, **settings)


def rows():
    """The rows of a table that a batch looked up, each once, and their gradients."""
    if X_KERAS3:
        # A row that is looked up twice has the sum of both gradients.
        rows, places = tf.unique(gradient.indices)
        values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
    else:
        rows, values = gradient.indices, gradient.values


def ftrl():
    """The steps of tf.train.FtrlOptimizer on tables."""

    class FtrlOptimizer(tf.keras.optimizers.Ftrl):
        """Ftrl of TF 1: rows of a table that a batch does not look up stay."""

        def update_step(X_UPDATE_PARAMETERS):
            if not isinstance(gradient, tf.IndexedSlices):
                super().update_step(X_UPDATE_ARGUMENTS)
                return
            X_ROWS
            index = X_INDEX
            if X_KERAS3:
                accumulators = self._accumulators[index].value
                linears = self._linears[index].value
            else:
                accumulators, linears = self._accumulators[index], self._linears[index]
            tf.raw_ops.ResourceSparseApplyFtrlV2(
                var=variable.handle,
                accum=accumulators.handle,
                linear=linears.handle,
                grad=values,
                indices=rows,
                lr=tf.cast(X_RATE, variable.dtype),
                l1=self.l1_regularization_strength,
                l2=self.l2_regularization_strength,
                l2_shrinkage=self.l2_shrinkage_regularization_strength,
                lr_power=self.learning_rate_power,
            )


def adadelta():
    """The steps of tf.train.AdadeltaOptimizer on tables."""

    class AdadeltaOptimizer(tf.keras.optimizers.Adadelta):
        """Adadelta of TF 1: rows of a table that a batch does not look up stay."""

        def update_step(X_UPDATE_PARAMETERS):
            if not isinstance(gradient, tf.IndexedSlices):
                super().update_step(X_UPDATE_ARGUMENTS)
                return
            X_ROWS
            index = X_INDEX
            if X_KERAS3:
                squares = self._accumulated_grads[index].value
                updates = self._accumulated_delta_vars[index].value
            else:
                squares = self._accumulated_grads[index]
                updates = self._accumulated_delta_vars[index]
            tf.raw_ops.ResourceSparseApplyAdadelta(
                var=variable.handle,
                accum=squares.handle,
                accum_update=updates.handle,
                lr=tf.cast(X_RATE, variable.dtype),
                rho=self.rho,
                epsilon=self.epsilon,
                grad=values,
                indices=rows,
            )


def rmsprop():
    """The steps of tf.train.RMSPropOptimizer on tables."""

    class RMSPropOptimizer(tf.keras.optimizers.RMSprop):
        """RMSProp of TF 1: rows of a table that a batch does not look up stay."""

        def update_step(X_UPDATE_PARAMETERS):
            if not isinstance(gradient, tf.IndexedSlices):
                super().update_step(X_UPDATE_ARGUMENTS)
                return
            X_ROWS
            index = X_INDEX

            def moved(slot, decay, change):
                """Takes the rows of a slot on, and returns them."""
                if X_KERAS3:
                    slot = slot.value
                found = decay * tf.gather(slot, rows) + change
                slot.scatter_update(tf.IndexedSlices(found, rows))
                return found

            share = 1 - self.rho
            squares = moved(self._velocities[index], self.rho, share * values**2)
            if X_CENTERED:
                means = moved(self._average_gradients[index], self.rho, share * values)
                squares -= means**2
            rate = tf.cast(X_RATE, variable.dtype)
            step = rate * values * tf.math.rsqrt(squares + self.epsilon)
            if X_MOMENTUM:
                step = moved(self._momentums[index], self.momentum, step)
            variable.scatter_sub(tf.IndexedSlices(step, rows))
