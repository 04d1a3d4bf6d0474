public import RelataSQLite

// Models inside a model are links. These overloads only say so.

/// Refuses a model as a value at compile time.
@_documentation(visibility: internal)
@available(*, unavailable, message: "a model isn't stored inside another: link it with ToOne, as 'ToOne<Author>'")
public func coding<Target: Model>(of type: Target.Type) -> RefusedCoding<Target> { RefusedCoding() }

/// Refuses an optional model as a value at compile time.
@_documentation(visibility: internal)
@available(*, unavailable, message: "a model isn't stored inside another: link it with ToOne, as 'ToOne<Author>?'")
public func coding<Target: Model>(of type: Target?.Type) -> RefusedCoding<Target?> { RefusedCoding() }

/// Refuses an array of models as a value at compile time.
@_documentation(visibility: internal)
@available(*, unavailable, message: "models aren't stored inside another: link them with ToMany, as 'ToMany<Author>'")
public func coding<Target: Model>(of type: [Target].Type) -> RefusedCoding<[Target]> { RefusedCoding() }
