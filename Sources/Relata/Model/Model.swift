import RelataCore
import RelataEngine

/// A plain struct whose stored properties a store saves.
///
/// Don't write a conformance: `@Model` generates it. All requirements are for the store.
///
/// ```swift
/// @Model struct Book {
///     let id: ID<Book>
///     var title: String
///     var genre: ToOne<Genre>?
/// }
/// ```
public protocol Model: Hashable, PredicateArgumentConvertible, ToOneConvertible where LinkedModel == Self {
    /// The type of the primary key.
    associatedtype Key: Hashable & Sendable
    /// The model's properties as predicates, orders and shapes name them.
    associatedtype Fields: ModelFields

    /// The model's name in the schema.
    static var entityName: String { get }
    /// The model's table, properties and relationships.
    static var entity: Entity { get }
    /// The models that this one links to; a store finds all its models from the first.
    static var linkedModels: [any Model.Type] { get }
    /// The stored type of each column of the key.
    static var keyTypes: [AttributeType] { get }

    /// The key, or `nil` before the database assigned it.
    var primaryKey: Key? { get }

    /// Reads an object from the current row.
    @_documentation(visibility: internal)
    init(from reader: inout RowReader) throws
    /// Gives the columns in the order of the properties.
    @_documentation(visibility: internal)
    func bind(to binder: inout Binder) throws
    /// Reads a key from the current row.
    @_documentation(visibility: internal)
    static func readKey(from reader: inout RowReader) throws -> Key
    /// Gives the columns of a key.
    @_documentation(visibility: internal)
    static func bind(_ key: Key, to binder: inout Binder) throws

    /// The value after a save: with key and timestamps, and edits on links applied.
    @_documentation(visibility: internal)
    init(saved other: Self, _ state: inout SavedState)
    /// Shows each link to a visitor, with its number among the entity's relationships.
    @_documentation(visibility: internal)
    func visitLinks(_ visitor: inout LinkVisitor) throws

    /// Takes loaded objects into each link, with its number among the entity's relationships.
    @_documentation(visibility: internal)
    mutating func loadLinks(from loader: inout LinkLoader)

    /// Adds objects to a save, or finds their links. Has a default.
    @_documentation(visibility: internal)
    static func gather(_ loop: inout GatherLoop<Self>) throws
    /// Writes objects one after the other. Has a default.
    @_documentation(visibility: internal)
    static func write(_ loop: inout WriteLoop<Self>) throws
    /// Validates objects. Has a default.
    @_documentation(visibility: internal)
    static func validate(_ loop: inout ValidationLoop<Self>) throws
    /// Reads objects one after the other. Has a default.
    @_documentation(visibility: internal)
    static func read(_ loop: inout ReadLoop<Self>) throws
    /// Binds the columns of an object's key; returns whether it has one. Has a default.
    @_documentation(visibility: internal)
    static func bindKey(of objects: [Self], at index: Int, to binder: inout Binder) throws -> Bool
    /// Binds the keys of objects. Has a default.
    @_documentation(visibility: internal)
    static func bindKeys(of objects: [Self], to binder: inout Binder) throws
    /// Passes the links of objects to a visitor. Has a default.
    @_documentation(visibility: internal)
    static func visitLinks(of objects: [Self], _ visitor: inout LinkVisitor) throws
    /// Sets loaded objects in the links of objects. Has a default.
    @_documentation(visibility: internal)
    static func loadLinks(of objects: inout [Self], from loader: inout LinkLoader)

    /// Checks the object as a whole, before anything of it is written. The default accepts everything.
    ///
    /// - Throws: Any error of yours. It reaches the caller among the failures of ``RelataError/validation(_:)``, by its
    ///   description.
    @discardableResult
    func validate() throws -> ValidationResult
    /// The result of `validate()`: nothing, or a marker that the model has no such function.
    @_documentation(visibility: internal)
    associatedtype ValidationResult
}

/// A model whose key the database assigns: one whose primary key is a single `Int?`. `@Model` conforms it.
///
/// A value of this kind has no key before it is saved, and saving the same value again inserts another object. So the
/// compiler warns if the result of `save` isn't used:
///
/// ```swift
/// var note = Note(text: "Call Ada")
/// note = try await store.save(note)  // has its key from here on
/// try await store.insert(Note(text: "Buy bread"))  // a new object that isn't needed afterwards
/// ```
public protocol KeyAssignedModel: Model {}

/// The result of the default `validate()`. By this type, a save recognises a model without a `validate()`, and skips
/// it.
@_documentation(visibility: internal)
@frozen
public struct AcceptsEverything: Sendable {
    @inlinable init() {}
}

// A key that one column stores directly.
extension Model where Key: AttributeValue {
    /// The stored type of the key's column.
    @_documentation(visibility: internal)
    public static var keyTypes: [AttributeType] { [Key.attributeType] }

    /// Reads a key from the current row.
    @_documentation(visibility: internal)
    @inlinable
    public static func readKey(from reader: inout RowReader) throws -> Key { try reader.readValue(Key.self) }

    /// Gives the column of a key.
    @_documentation(visibility: internal)
    @inlinable
    public static func bind(_ key: Key, to binder: inout Binder) throws { try binder.bindValue(key) }
}

extension Model {
    /// Hashes the key.
    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(primaryKey) }

    /// Accepts everything. Throws nothing.
    @discardableResult
    @inlinable
    public func validate() throws -> AcceptsEverything { AcceptsEverything() }

    /// Whether the model has its own `validate()`.
    static var validatesItself: Bool { ValidationResult.self != AcceptsEverything.self }

    /// The number of columns the key has.
    @_documentation(visibility: internal)
    @inlinable public static var keyColumnCount: Int { keyTypes.count }

    /// A key as plans and reports know it.
    @usableFromInline
    static func keyValue(_ key: Key) throws -> KeyValue {
        var binder = Binder(collecting: 1)
        try bind(key, to: &binder)
        return KeyValue(binder.values)
    }

    /// The object's name for messages.
    func reference() -> ObjectReference {
        let key = primaryKey.flatMap { try? Self.keyValue($0) }
        return ObjectReference(entity: Self.entityName, key: key ?? KeyValue(.null))
    }

    /// The object's key, so that an object can be an argument of a predicate given as text.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an object without a key.
    public var predicateArgument: PredicateArgument {
        get throws { .ofEntity(Self.entityName, .key(try storedKey())) }
    }

    /// All columns as values: for comparing and checking, not for storing.
    func columnValues(_ table: Table) throws -> [Value] {
        var binder = Binder(collecting: table.columns.count)
        try bind(to: &binder, table)
        return binder.values
    }

    /// Returns the columns; the error of an unsupported value names the object and the property.
    func bind(to binder: inout Binder, _ table: Table) throws {
        do {
            try bind(to: &binder)
        } catch RelataError.validation(let failures) {
            let column = Int(binder.index) - 1
            let property = table.columns.indices.contains(column) ? table.columns[column].property : nil
            throw RelataError.validation(
                failures.map {
                    ValidationFailure(entity: table.name, property: property, key: reference().key, message: $0.message)
                })
        }
    }
}

/// The properties of a model as predicates, orders and shapes name them; `@Model` writes one for each model.
@_documentation(visibility: internal)
public protocol ModelFields: Sendable {
    /// The fields of the object at the end of a path.
    init(path: FieldPath)
    /// The place of the object. Not just `path`, which may be the name of a model's property.
    var fieldPath: FieldPath { get }
}

/// The place of an object in a query: its scope and the to-ones that lead to it from there.
@_documentation(visibility: internal)
public struct FieldPath: Sendable {
    /// A single reference: the compiler then copies and destroys a model's `Fields` like any reference, and writes no
    /// code for that.
    private let place: Place

    private final class Place: Sendable {
        let scope: Int
        let names: [String]

        init(scope: Int, names: [String]) { (self.scope, self.names) = (scope, names) }

        /// The query's own objects.
        static let root = Place(scope: 0, names: [])
    }

    private init(_ place: Place) { self.place = place }

    /// The object of a scope itself.
    public init(scope: Int = 0) { self.init(scope == 0 ? .root : Place(scope: scope, names: [])) }

    /// 0 for the query's own objects, one more inside each condition on related objects.
    public var scope: Int { place.scope }
    /// The to-ones from there.
    public var names: [String] { place.names }

    /// One step along a to-one.
    func appending(_ name: String) -> FieldPath { FieldPath(Place(scope: scope, names: names + [name])) }

    /// A property of the object.
    func property(_ name: String) -> ExpressionNode { .property(scope: scope, path: names + [name]) }

    /// The path to a property of the object, as text.
    func dotted(_ name: String) -> String { names.isEmpty ? name : (names + [name]).joined(separator: ".") }

    /// The object itself.
    var object: ExpressionNode { .property(scope: scope, path: names) }
}
