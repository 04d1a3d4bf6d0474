/// Makes a struct a shape: its properties, and nothing else, are fetched for each object of a model.
///
/// ```swift
/// @Shape(of: Setlist.self) struct SetlistSongs {
///     @Root var setlist: Setlist               // the whole object
///     var name: String                         // an attribute
///     var items: [Item]                        // shapes of a to-many, in its order
///     @From(\.items) var itemsAgain: [Item]    // under another name
///     @Count(\.songs) var songCount: Int       // a figure
///     var last: Item?                          // anything else, which a static member of the same name says
///     static let last = from { $0.items.sorted { $0.position.descending }.first }
///     @Shape(of: SetlistItem.self) struct Item {
///         var position: Int
///         var song: Song
///     }
/// }
/// let setlists = try await store.fetch(SetlistSongs.where { $0.name == "Friday" })
/// ```
///
/// A property reads the model's property of the same name, unless a marker or a static member gives another source: see
/// ``Shape/from(_:)``. Its type must fit:
///
/// - an attribute or an expression: its own type, or an optional of it;
/// - a to-one: the model, a shape of the model or, if it may be unset, an optional of these; its key as an optional;
/// - a to-many: an array of the model or of a shape of the model.
///
/// Computed and static properties are left alone, and so are those marked ``Transient()``. The macro adds `id`, the
/// object's key, unless the struct declares it, and the conformance to ``Shape``, which is `Hashable`, `Sendable` and
/// `Identifiable`. Write `: Codable` for JSON.
///
/// - Parameter model: The model of the shape's objects.
@attached(member, names: named(id), named(RootModel), named(Parts))
@attached(extension, conformances: Shape, names: named(shapeLayout), named(init), named(fill), named(hash))
public macro Shape<Root: Model>(of model: Root.Type) = #externalMacro(module: "RelataMacros", type: "ShapeMacro")

/// In a shape: the whole object of its model.
@attached(peer)
public macro Root() = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the source of a property, by the names of the model's properties, or of those of linked objects.
///
/// ```swift
/// @From(\.items) var itemsWithSong: [ItemWithSong]
/// @From(\.genre.name) var genreName: String?
/// ```
@attached(peer)
public macro From(_ source: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the number of objects of a to-many. `@Count(\.books) var bookCount: Int`
@attached(peer)
public macro Count(_ relationship: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: whether a to-many has an object. `@Exists(\.books) var hasBooks: Bool`
@attached(peer)
public macro Exists(_ relationship: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the first object of a to-many, in its order. `@First(\.episodes) var pilot: Episode?`
@attached(peer)
public macro First(_ relationship: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the smallest value over a to-many, unset for an empty one. `@Minimum(\.books.year) var since: Int?`
@attached(peer)
public macro Minimum(_ attribute: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the largest value over a to-many, unset for an empty one. `@Maximum(\.books.year) var until: Int?`
@attached(peer)
public macro Maximum(_ attribute: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the sum over a to-many, 0 for an empty one. `@Sum(\.tracks.seconds) var seconds: Int`
@attached(peer)
public macro Sum(_ attribute: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// In a shape: the average over a to-many, unset for an empty one. `@Average(\.books.price) var average: Double?`
@attached(peer)
public macro Average(_ attribute: ShapeKeyPath) = #externalMacro(module: "RelataMacros", type: "ShapeMarkerMacro")

/// A path of names in a marker of a shape: `\.items.song`. `@Shape`'s code checks that the model has them.
public typealias ShapeKeyPath = KeyPath<ShapeName, ShapeName>

/// The root of the names in a ``ShapeKeyPath``.
@dynamicMemberLookup
public struct ShapeName {
    /// Any name.
    public subscript(dynamicMember name: String) -> ShapeName { self }
}
