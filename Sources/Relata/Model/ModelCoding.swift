// A model inside another is a link, not a value. The description of the property says so at compile time, whether or not
// the model is Codable.

import RelataCore
import RelataEngine

/// The coding of a model, which no column stores.
@_documentation(visibility: internal)
public func coding<Target: Model>(of type: Target.Type) -> RefusedCoding<Target> { RefusedCoding() }

/// The coding of an optional model, which no column stores.
@_documentation(visibility: internal)
public func coding<Target: Model>(of type: Target?.Type) -> RefusedCoding<Target?> { RefusedCoding() }

/// The coding of models, which no column stores.
@_documentation(visibility: internal)
public func coding<Target: Model>(of type: [Target].Type) -> RefusedCoding<[Target]> { RefusedCoding() }

extension Property {
    /// Refuses a type that can't be stored.
    @available(
        *, unavailable,
        message:
            "a stored property must be Bool, a number, String, Date, Data, UUID, URL, an enum with a raw value, a Codable & Sendable type, or an optional of these; mark it @Transient to leave it out"
    )
    public static func attribute<Value>(
        _ name: String, _ coding: RefusedCoding<Value>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Value)? = nil
    ) -> Property {
        .attribute(Attribute(name, type: coding.type))
    }

    /// Refuses a model as a value.
    @available(*, unavailable, message: "a model isn't stored inside another: write its type as 'ToOne<Author>'")
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<Target>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Target)? = nil
    ) -> Property {
        .attribute(Attribute(name, type: coding.type))
    }

    /// Refuses an optional model as a value.
    @available(*, unavailable, message: "a model isn't stored inside another: write its type as 'ToOne<Author>?'")
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<Target?>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Target?)? = nil
    ) -> Property {
        .attribute(Attribute(name, type: coding.type))
    }

    /// Refuses an array of models as a value.
    @available(*, unavailable, message: "models aren't stored inside another: write the type as 'ToMany<Author>'")
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<[Target]>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> [Target])? = nil
    ) -> Property {
        .attribute(Attribute(name, type: coding.type))
    }
}
