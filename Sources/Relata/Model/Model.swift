import RelataCore
import RelataEngine

/// A value that a store keeps: a plain struct whose stored properties are what is stored.
///
/// Don't write a conformance: `@Model` does. All requirements are its side of the contract with the store.
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
    /// How each column of the key is stored.
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

    /// The value as it is once it is saved: key and stamps set, edits on links done.
    @_documentation(visibility: internal)
    init(saved other: Self, _ state: inout SavedState)
    /// Shows each link to a visitor, with its number among the entity's relationships.
    @_documentation(visibility: internal)
    func visitLinks(_ visitor: inout LinkVisitor) throws

    /// Takes loaded objects into each link, with its number among the entity's relationships.
    @_documentation(visibility: internal)
    mutating func loadLinks(from loader: inout LinkLoader)

    /// Adds objects to a save, or finds what they link to. The default does.
    @_documentation(visibility: internal)
    static func gather(_ loop: inout GatherLoop<Self>) throws
    /// Writes objects one after the other. The default does.
    @_documentation(visibility: internal)
    static func write(_ loop: inout WriteLoop<Self>) throws
    /// Asks objects to validate themselves. The default does.
    @_documentation(visibility: internal)
    static func validate(_ loop: inout ValidationLoop<Self>) throws
    /// Reads objects one after the other. The default does.
    @_documentation(visibility: internal)
    static func read(_ loop: inout ReadLoop<Self>) throws
    /// Gives the columns of the key of one of the objects; whether it has one. The default does.
    @_documentation(visibility: internal)
    static func bindKey(of objects: [Self], at index: Int, to binder: inout Binder) throws -> Bool
    /// Gives the keys of objects. The default does.
    @_documentation(visibility: internal)
    static func bindKeys(of objects: [Self], to binder: inout Binder) throws
    /// Shows the links of objects to a visitor. The default does.
    @_documentation(visibility: internal)
    static func visitLinks(of objects: [Self], _ visitor: inout LinkVisitor) throws
    /// Takes loaded objects into the links of objects. The default does.
    @_documentation(visibility: internal)
    static func loadLinks(of objects: inout [Self], from loader: inout LinkLoader)

    /// Checks the object as a whole, before anything of it is written. The default accepts everything.
    ///
    /// Throw any error; it reaches the caller among the failures of ``RelataError/validation(_:)``, by its description.
    @discardableResult
    func validate() throws -> ValidationResult
    /// What `validate()` returns: nothing, or that the model has no such function of its own.
    @_documentation(visibility: internal)
    associatedtype ValidationResult
}

/// A model whose key the database assigns: one whose primary key is a single `Int?`. `@Model` conforms it.
///
/// A value of such a model has no key before it is saved, and saving the same value again inserts another object. So the
/// compiler warns where what `save` returns isn't used:
///
/// ```swift
/// var note = Note(text: "Call Ada")
/// note = try await store.save(note)  // has its key from here on
/// try await store.insert(Note(text: "Buy bread"))  // a new object that isn't needed afterwards
/// ```
public protocol KeyAssignedModel: Model {}

/// What the `validate()` returns that every model has by itself. By this type a save knows a model without one of its
/// own, whose objects it needn't ask.
@_documentation(visibility: internal)
@frozen
public struct AcceptsEverything: Sendable {
    @inlinable init() {}
}

// A key that one column stores directly.
extension Model where Key: AttributeValue {
    /// How the column of the key is stored.
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
    /// Accepts everything. Throws nothing.
    @discardableResult
    @inlinable
    public func validate() throws -> AcceptsEverything { AcceptsEverything() }

    /// Whether the model has a `validate()` of its own.
    static var validatesItself: Bool { ValidationResult.self != AcceptsEverything.self }

    /// How many columns the key has.
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

    /// The object's key, so that an object can stand for `%@` in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { .ofEntity(Self.entityName, .key(try storedKey())) }
    }

    /// All columns as values: for comparing and checking, not for storing.
    func columnValues(_ table: Table) throws -> [Value] {
        var binder = Binder(collecting: table.columns.count)
        try bind(to: &binder, table)
        return binder.values
    }

    /// Gives the columns; the error of a value that no column can hold names object and property.
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
    /// Where the object stands. Not just `path`, which a model may well have a property of.
    var fieldPath: FieldPath { get }
}

/// Where an object stands in a query: how deep its scope is and which to-ones lead to it from there.
@_documentation(visibility: internal)
public struct FieldPath: Hashable, Sendable {
    /// 0 for the query's own objects, one more inside each condition on related objects.
    public var scope: Int
    /// The deepest scope that conditions inside may refer to.
    public var depth: Int
    /// The to-ones from there.
    public var names: [String]

    /// The object of a scope itself.
    public init(scope: Int = 0) {
        self.scope = scope
        depth = scope
        names = []
    }

    /// One step along a to-one.
    func appending(_ name: String) -> FieldPath {
        var path = self
        path.names.append(name)
        return path
    }

    /// A property of the object.
    func property(_ name: String) -> ExpressionNode { .property(scope: scope, path: names + [name]) }

    /// The path to a property of the object, as text.
    func dotted(_ name: String) -> String { names.isEmpty ? name : (names + [name]).joined(separator: ".") }

    /// The object itself.
    var object: ExpressionNode { .property(scope: scope, path: names) }
}
