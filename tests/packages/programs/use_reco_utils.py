"""Wide and deep over users and items, with the hook that evaluates while it trains."""

import pandas as pd
import tensorflow as tf
from reco_utils.recommender.wide_deep import wide_deep_utils
from steps import RANDOM, train

FRAME = pd.DataFrame(
    {"userID": RANDOM.randint(5, size=40), "itemID": RANDOM.randint(6, size=40)}
)
RATINGS = RANDOM.randint(1, 6, size=40).astype("float32")


def input_fn():
    data = tf.data.Dataset.from_tensor_slices((dict(FRAME), RATINGS))
    return data.repeat().batch(8)


wide, deep = wide_deep_utils.build_feature_columns(
    users=FRAME["userID"].unique(),
    items=FRAME["itemID"].unique(),
    user_dim=3,
    item_dim=3,
    crossed_feat_dim=10,
)
estimator = wide_deep_utils.build_model(
    wide_columns=wide, deep_columns=deep, dnn_hidden_units=(8, 4)
)
train(estimator, input_fn)
