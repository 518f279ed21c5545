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
