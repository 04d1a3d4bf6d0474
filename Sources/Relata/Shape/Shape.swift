import RelataCore

/// A struct whose properties define what is fetched: the shape is the query.
///
/// Don't write a conformance: `@Shape(of:)` generates it.
///
/// ```swift
/// @Shape(of: Setlist.self) struct SetlistSongs {
///     var name: String
///     @Count(\.songs) var songCount: Int
///     var items: [Item]
///     @Shape(of: SetlistItem.self) struct Item { @Root var item: SetlistItem; var song: Song }
/// }
/// let setlists = try await store.fetch(SetlistSongs.where { $0.name == "Friday" })
/// ```
public protocol Shape: Hashable, Sendable, Identifiable {
    /// The model of the shape's objects.
    associatedtype RootModel: Model

    /// The source of each property.
    @_documentation(visibility: internal)
    static var shapeLayout: ShapeLayout { get }
    /// Reads a shape from the current row; its lists are empty.
    @_documentation(visibility: internal)
    init(from reader: inout ShapeReader) throws
    /// Takes the results of other statements.
    @_documentation(visibility: internal)
    mutating func fill(from loader: inout ShapeLoader)

    /// Reads shapes one after the other. Has a default.
    @_documentation(visibility: internal)
    static func read(_ loop: inout ShapeLoop<Self>) throws
    /// Fills shapes one after the other. Has a default.
    @_documentation(visibility: internal)
    static func fill(_ shapes: inout [Self], from loader: inout ShapeLoader)
}

// The loops can be inlined, so that the app's own module has a copy of them for each shape.
extension Shape {
    /// Reads shapes one after the other.
    @_documentation(visibility: internal)
    @inlinable
    public static func read(_ loop: inout ShapeLoop<Self>) throws {
        while try loop.cursor.next() { loop.values.append(try Self(from: &loop.cursor.reader)) }
    }

    /// Fills shapes one after the other.
    @_documentation(visibility: internal)
    @inlinable
    public static func fill(_ shapes: inout [Self], from loader: inout ShapeLoader) {
        for index in shapes.indices {
            loader.begin(index)
            shapes[index].fill(from: &loader)
        }
    }

    /// The source of a property that isn't one of the model's: an expression, or a relationship with a filter, an order
    /// or a limit. It is a static member with the property's name.
    ///
    /// ```swift
    /// @Shape(of: Series.self) struct SeriesCard {
    ///     var title: String
    ///     var latest: [Episode]
    ///     static let latest = from { $0.episodes.sorted { $0.watchedAt.descending }.limit(3) }
    ///     var next: Episode?
    ///     static let next = from { $0.episodes.where { $0.progress == 0 }.first }
    ///     var isLong: Bool
    ///     static let isLong = from { $0.episodes.count > 100 }
    /// }
    /// ```
    ///
    /// The limit counts for each object.
    public static func from<Source>(
        _ source: @escaping @Sendable (RootModel.Fields) -> Source
    ) -> @Sendable (RootModel.Fields) -> Source { source }

    /// The shapes of all objects.
    public static var all: ShapeQuery<Self> { ShapeQuery(Query()) }

    /// The shapes of the objects that meet a condition.
    public static func `where`<Check: QueryExpression<Bool>>(
        _ condition: (RootModel.Fields) -> Check
    ) -> ShapeQuery<Self> { all.where(condition) }

    /// The shapes of all objects in an order.
    public static func sorted(@SortBuilder _ order: (RootModel.Fields) -> [SortTerm]) -> ShapeQuery<Self> {
        all.sorted(order)
    }

    /// The shapes of the objects that meet a condition given as text; see ``Query/matching(_:_:)``.
    public static func matching(
        _ format: String, _ arguments: (any Sendable)?...
    ) -> ShapeQuery<Self> { ShapeQuery(Query().matching(format, arguments: arguments)) }
}

/// The properties of a shape and their sources.
@_documentation(visibility: internal)
public struct ShapeLayout: Sendable {
    let parts: [(name: String, part: any ShapePart)]
    /// The number of lists, including those of shapes that are part of the row.
    let listCount: Int

    /// The properties in order. Written by `@Shape`.
    public init(_ parts: [(String, any ShapePart)]) {
        self.parts = parts.map { (name: $0, part: $1) }
        listCount = parts.reduce(0) { $0 + $1.1.listCount }
    }

    /// The row begins with the object's key, by which lists find their owner; if it is unset, there is no object.
    func describe(_ level: inout ShapeLevel, at path: FieldPath) throws {
        level.add(.key(path: path.names))
        for (name, part) in parts {
            level.names.append(name)
            defer { level.names.removeLast() }
            try part.describe(&level, at: path)
        }
    }
}

/// The source of a shape's property.
@_documentation(visibility: internal)
public protocol ShapePart: Sendable {
    /// The property's type.
    associatedtype Value
    /// The number of lists in it that separate statements load.
    var listCount: Int { get }
    /// Adds the columns it needs to a statement, for the object at the end of a path.
    func describe(_ level: inout ShapeLevel, at path: FieldPath) throws
    /// Reads it from the current row.
    func read(_ reader: inout ShapeReader) throws -> Value
    /// Takes the results of other statements.
    func fill(_ value: inout Value, from loader: inout ShapeLoader)
}

extension ShapePart {
    /// None.
    public var listCount: Int { 0 }
    /// Nothing.
    @inlinable
    public func fill(_ value: inout Value, from loader: inout ShapeLoader) {}
}
