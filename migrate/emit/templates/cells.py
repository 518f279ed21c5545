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
        """TF1's GRU cell: reset before the candidate's kernel, gates r and u."""

        def __init__(self, units, activation=tf.tanh):
            super().__init__()
            self.units = units
            self.activation = activation
            self.state_size = units
            self.output_size = units

        def build(self, input_shape):
            size = input_shape[-1] + self.units
            self.gate_kernel = self.add_weight(
                name="gates_kernel", shape=[size, 2 * self.units]
            )
            self.gate_bias = self.add_weight(
                name="gates_bias", shape=[2 * self.units], initializer="ones"
            )
            self.kernel = self.add_weight(
                name="candidate_kernel", shape=[size, self.units]
            )
            self.bias = self.add_weight(
                name="candidate_bias", shape=[self.units], initializer="zeros"
            )

        def call(self, inputs, states):
            state = states[0] if isinstance(states, (list, tuple)) else states
            gates = tf.matmul(tf.concat([inputs, state], 1), self.gate_kernel)
            r, u = tf.split(tf.sigmoid(gates + self.gate_bias), 2, axis=1)
            candidate = tf.matmul(tf.concat([inputs, r * state], 1), self.kernel)
            candidate = self.activation(candidate + self.bias)
            state = u * state + (1 - u) * candidate
            return state, state
