def plain_classes(parsed, facts):
    from dataclasses import replace

    from ..project.parsing import parse
    from ..symbols.scope_builder import build_scopes

    t = parsed.source.text.replace(
        "tf.estimator.ScopedModel", "tf_keras.Model"
    ).replace("tf.estimator.ScopedLayer", "tf_keras.layers.Layer")
    if t == parsed.source.text:
        return parsed
    m = parse(t)
    return facts.module_of(replace(parsed.source, text=t, module=m), build_scopes(m))
