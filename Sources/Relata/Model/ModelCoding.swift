// A model inside another is a link, not a value. The property's description reports that at compile time, whether the
// model is Codable or not.

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

/// The coding of models that may be unset, which no column stores.
@_documentation(visibility: internal)
public func coding<Target: Model>(of type: [Target]?.Type) -> RefusedCoding<[Target]?> { RefusedCoding() }

/// The coding of a set of models, which no column stores.
@_documentation(visibility: internal)
public func coding<Target: Model>(of type: Set<Target>.Type) -> RefusedCoding<Set<Target>> { RefusedCoding() }

extension Property {
    /// Refuses a type that can't be stored.
    public static func attribute<Value>(
        _ name: String, _ coding: RefusedCoding<Value>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Value)? = nil
    ) -> RefusedProperty<RefusedType> { RefusedProperty() }

    /// Refuses a model as a value.
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<Target>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Target)? = nil
    ) -> RefusedProperty<RefusedModel> { RefusedProperty() }

    /// Refuses an optional model as a value.
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<Target?>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Target?)? = nil
    ) -> RefusedProperty<RefusedModel> { RefusedProperty() }

    /// Refuses an array of models as a value.
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<[Target]>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> [Target])? = nil
    ) -> RefusedProperty<RefusedModel> { RefusedProperty() }

    /// Refuses an array of models that may be unset as a value.
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<[Target]?>, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> [Target]?)? = nil
    ) -> RefusedProperty<RefusedModel> { RefusedProperty() }

    /// Refuses a set of models as a value.
    public static func attribute<Target: Model>(
        _ name: String, _ coding: RefusedCoding<Set<Target>>, column: String? = nil,
        originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Set<Target>)? = nil
    ) -> RefusedProperty<RefusedModel> { RefusedProperty() }
}
