public import RelataCore

/// Makes a struct a model: an entity whose objects are stored, with its attributes and its relationships to others.
///
/// ```swift
/// @Model struct Book {
///     let id: ID<Book>
///     @Attribute(.notEmpty) var title: String
///     var publishingYear: Int
///     var genre: ToOne<Genre>?
///     var authors: ToMany<Author>
/// }
///
/// @Model struct Genre {
///     let id: ID<Genre>
///     @Attribute(.unique) var name: String
///     @Relationship(deleteRule: .deny, inverse: \Book.genre) var books: ToMany<Book>
/// }
/// ```
///
/// Every stored property is stored as a column or a link, unless it is marked ``Transient()``. Computed and static
/// properties are left alone. The primary key is the property `id`, or those marked `@Attribute(.primaryKey)`.
///
/// The macro adds a memberwise initialiser, the conformances to `Model`, `Hashable` and, with an `id`, `Identifiable`,
/// and the nested type `Fields`, for predicates, sort orders and includes. In the initialiser, keys generated on the
/// device, links, optionals and properties with an initial value have a default; private properties with one are left
/// out; a link to one object takes the object itself or a `ToOne`. A model's own initialiser with the same labels, its
/// own `==` and its own `hash(into:)` are kept.
///
/// Inside a model that is `Identifiable`, `ID` is the type of its `id`: in its methods write the key of another model
/// as `Genre.ID`, not as `ID<Genre>`. In a module that is isolated to the main actor by default models are not, and the
/// `Codable` types they store must be `nonisolated` too.
///
/// - Parameters:
///   - table: The table's name; the struct's by default. Give it to use an existing table.
///   - originalTable: The table's name in an older version of the model, if it was renamed; several names, the newest
///     first, if it was renamed more than once: `["records", "discs"]`. Text literals only.
@attached(
    member, names: named(init), named(bind), named(visitLinks), named(loadLinks), named(Key), named(primaryKey),
    named(keyTypes),
    named(readKey), named(entityName), named(linkedModels), named(entity), named(makeEntity),
    named(==), named(Fields))
@attached(extension, conformances: Model, KeyAssignedModel, Identifiable, Hashable)
public macro Model(table: String? = nil, originalTable: OriginalNames? = nil) =
    #externalMacro(module: "RelataMacros", type: "ModelMacro")

/// Adds details to a stored value: its options, its valid values, the name of its column.
///
/// ```swift
/// @Attribute(.unique, .notEmpty) var email: String
/// @Attribute(column: "AlbumId") var id: Int?
/// @Attribute(originalName: "name") var title: String
/// @Attribute(originalName: ["heading", "name"]) var title: String
/// ```
///
/// - Parameters:
///   - options: The attribute's options and limits.
///   - column: The column's name; the property's by default.
///   - originalName: The property's name in an older version of the model, if it was renamed: the column is renamed,
///     and its values stay. Several names, the newest first, if it was renamed more than once. Text literals only.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., column: String? = nil, originalName: OriginalNames? = nil) =
    #externalMacro(module: "RelataMacros", type: "AttributeMacro")

/// Adds details to a link: its delete rule, its inverse, its order.
///
/// ```swift
/// @Relationship(deleteRule: .cascade, inverse: \Episode.series) var episodes: ToMany<Episode>
/// @Relationship(onTargetDelete: .cascade) var album: ToOne<Album>
/// @Relationship(ordered: true, minimum: 1) var authors: ToMany<Author>
/// ```
///
/// - Parameters:
///   - deleteRule: The effect on the other side when the object that declares the link is deleted.
///   - onTargetDelete: On a to-one: the effect on this object when its target is deleted. By default `.nullify` for an
///     optional to-one and `.deny` for a required one. A rule of the target's inverse has precedence.
///   - removeRule: On the inverse of a to-one: the effect on an object that an edit removes. By default its to-one
///     becomes unset, which is an error if it is required; with `.delete` the object is deleted, unless the same save
///     gives it to another.
///   - inverse: The property of the other side that this link is the view of: a to-one for a `HasOne` or a
///     `ToMany`, a many-to-many for the second side of one. Written on the view only.
///   - order: The integer attribute of the objects of a one-to-many that orders it.
///   - ordered: Whether the store manages an order of the to-many, in a separate column.
///   - minimum: The least number of objects the to-many must hold.
///   - maximum: The largest number of objects the to-many may hold.
///   - columns: On a to-one: the names of the foreign key's columns, in the order of the target's primary key.
///   - joinTable: On a many-to-many: the name of the join table.
///   - joinColumns: On a many-to-many: the names of the join table's columns: this side's key, then the other's.
///   - originalName: The property's name in an older version of the model, if it was renamed; several names, the newest
///     first, if it was renamed more than once. Text literals only.
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule? = nil, onTargetDelete: DeleteRule? = nil, removeRule: RemoveRule? = nil,
    inverse: AnyKeyPath? = nil, order: AnyKeyPath? = nil, ordered: Bool = false, minimum: Int? = nil,
    maximum: Int? = nil, columns: [String] = [], joinTable: String? = nil, joinColumns: [String] = [],
    originalName: OriginalNames? = nil
) = #externalMacro(module: "RelataMacros", type: "RelationshipMacro")

/// Declares the path of a `Through` link: to the objects of a join model, and from each of them to the target.
///
/// ```swift
/// @Model struct Setlist {
///     let id: ID<Setlist>
///     @Relationship(deleteRule: .cascade, inverse: \SetlistItem.setlist, order: \SetlistItem.position)
///     var items: ToMany<SetlistItem>
///     @Relationship(through: \Setlist.items, \SetlistItem.song)
///     var songs: Through<Song>
/// }
/// ```
///
/// - Parameters:
///   - through: The to-many of this model that holds the objects of the join model.
///   - toOne: The to-one of the join model that points at the target.
@attached(peer)
public macro Relationship(through: AnyKeyPath, _ toOne: AnyKeyPath) =
    #externalMacro(module: "RelataMacros", type: "RelationshipMacro")

/// Suggests the spelling of SwiftData's arguments.
@_documentation(visibility: internal)
@available(
    *, unavailable, message: "write 'minimum:' and 'maximum:', after 'inverse:'; a model needs no 'hashModifier:'"
)
@attached(peer)
public macro Relationship(
    deleteRule: DeleteRule? = nil, minimumModelCount: Int? = nil, maximumModelCount: Int? = nil,
    originalName: String? = nil, inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "RelataMacros", type: "RelationshipMacro")

/// Leaves a property out of the database. It needs an initial value, which it has after every fetch.
///
/// ```swift
/// @Transient var isSelected = false
/// ```
@attached(peer)
public macro Transient() = #externalMacro(module: "RelataMacros", type: "TransientMacro")

/// Declares sets of properties that are unique together.
///
/// ```swift
/// #Unique<Seat>([\.row, \.number])
/// ```
///
/// - Parameter properties: Key paths to attributes and to-ones of the model; each array is a separate set.
@freestanding(declaration)
public macro Unique<Root>(_ properties: [PartialKeyPath<Root>]...) =
    #externalMacro(module: "RelataMacros", type: "UniqueMacro")

/// Declares properties that are indexed together, in that order. Keys, uniques and links are indexed without it.
///
/// ```swift
/// #Index<Book>([\.publishingYear, \.title], [\.title])
/// ```
///
/// - Parameter properties: Key paths to attributes and to-ones of the model; each array is a separate index.
@freestanding(declaration)
public macro Index<Root>(_ properties: [PartialKeyPath<Root>]...) =
    #externalMacro(module: "RelataMacros", type: "IndexMacro")

/// Declares the attributes that are searched by their words, with ``Query/search(_:)``.
///
/// ```swift
/// #Search<Song>([\.title, \.lyrics])
/// ```
///
/// The database keeps an index of their words, and all that is written keeps that current: see <doc:Search>.
///
/// - Parameter attributes: Key paths to attributes of text, optional or not.
@freestanding(declaration)
public macro Search<Root>(_ attributes: [PartialKeyPath<Root>]) =
    #externalMacro(module: "RelataMacros", type: "SearchMacro")
