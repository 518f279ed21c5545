"""Recurrent cells with the variables of TF1's."""


def lstm():
    """BasicLSTMCell and LSTMCell."""

    class JointLSTMCell(tf.keras.layers.Layer):
        """TF1's LSTM cell: one kernel for input and state, gates i, j, f and o."""

        def __init__(self, units, forget_bias=1.0, activation=tf.tanh):
            super().__init__()
            self.units = units
            self.forget_bias = forget_bias
            self.activation = activation
            self.state_size = [units, units]
            self.output_size = units

        def build(self, input_shape):
            shape = [input_shape[-1] + self.units, 4 * self.units]
            self.kernel = self.add_weight(name="kernel", shape=shape)
            self.bias = self.add_weight(
                name="bias", shape=shape[1:], initializer="zeros"
            )

        def call(self, inputs, states):
            memory, output = states
            gates = tf.matmul(tf.concat([inputs, output], 1), self.kernel) + self.bias
            i, j, f, o = tf.split(gates, 4, axis=1)
            memory *= tf.sigmoid(f + self.forget_bias)
            memory += tf.sigmoid(i) * self.activation(j)
            output = self.activation(memory) * tf.sigmoid(o)
            return output, [memory, output]


def gru():
    """GRUCell."""

    class JointGRUCell(tf.keras.layers.Layer):
        """TF1's GRU cell: one kernel for both gates, one for the candidate."""

        def __init__(self, units, activation=tf.tanh):
            super().__init__()
            self.units = units
            self.activation = activation
            self.state_size = units
            self.output_size = units

        def build(self, input_shape):
            rows = input_shape[-1] + self.units
            self.gate_kernel = self.add_weight(
                name="gates/kernel", shape=[rows, 2 * self.units]
            )
            self.gate_bias = self.add_weight(
                name="gates/bias", shape=[2 * self.units], initializer="ones"
            )
            self.kernel = self.add_weight(
                name="candidate/kernel", shape=[rows, self.units]
            )
            self.bias = self.add_weight(
                name="candidate/bias", shape=[self.units], initializer="zeros"
            )

        def call(self, inputs, states):
            (state,) = tf.nest.flatten(states)
            joined = tf.concat([inputs, state], 1)
            gates = tf.sigmoid(tf.matmul(joined, self.gate_kernel) + self.gate_bias)
            reset, update = tf.split(gates, 2, axis=1)
            joined = tf.concat([inputs, reset * state], 1)
            candidate = self.activation(tf.matmul(joined, self.kernel) + self.bias)
            state = update * state + (1 - update) * candidate
            return state, [state]
