/// A property with an invalid declaration.
///
/// `@Model`'s code refuses it at compile time, at the property and with its name.
@_documentation(visibility: internal)
public struct RefusedProperty<Reason> {
    init() {}
}

/// The reason: no column stores values of the type.
@_documentation(visibility: internal)
public enum RefusedType {}

/// The reason: a model isn't stored inside another.
@_documentation(visibility: internal)
public enum RefusedModel {}

/// The reason: `inverse:` names something else than a link back.
@_documentation(visibility: internal)
public enum RefusedInverse {}

/// The reason: `order:` names something else than an integer.
@_documentation(visibility: internal)
public struct RefusedOrder {
    init() {}
}

/// The reason: `through:` names something else than a list and a link of its objects to the target.
@_documentation(visibility: internal)
public enum RefusedWay {}
