/// A value for a to-one: a link, or the bare object.
///
/// The initialisers that `@Model` generates take it, so that an object needs no wrapping:
///
/// ```swift
/// Book(title: "Mort", genre: fantasy, publisher: ToOne(id: 7))
/// ```
///
/// Links and models conform; don't add conformances.
public protocol ToOneConvertible<LinkedModel> {
    /// The model that the link is to.
    associatedtype LinkedModel: Model
    /// The link to the object.
    @_documentation(visibility: internal)
    var _toOne: ToOne<LinkedModel> { get }
}

extension ToOne: ToOneConvertible {
    /// The model that the link is to.
    public typealias LinkedModel = Target
    /// The link itself.
    @_documentation(visibility: internal)
    public var _toOne: ToOne<Target> { self }
}

extension Model {
    /// The link to the object.
    @_documentation(visibility: internal)
    public var _toOne: ToOne<Self> { ToOne(self) }
}

extension ToMany: ExpressibleByArrayLiteral {
    /// A link to these objects: `Book(title: "Good Omens", authors: [pratchett, gaiman])`. As ``set(_:)`` it means
    /// these and no others, so that `book.authors = []` takes all out.
    public init(arrayLiteral objects: Target...) { self.init(objects) }
}
