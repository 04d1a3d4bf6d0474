import RelataCore
public import RelataEngine

/// An attribute or another expression.
@_documentation(visibility: internal)
@frozen
public struct ValuePart<Root: Model, Coding: AttributeCoding>: ShapePart {
    let source: @Sendable (Root.Fields) -> ExpressionNode
    @usableFromInline let coding: Coding

    init(_ coding: Coding, _ source: @escaping @Sendable (Root.Fields) -> ExpressionNode) {
        self.source = source
        self.coding = coding
    }

    /// Adds the expression.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) {
        level.add(.expression(source(Root.Fields(path: path))))
    }

    /// Reads the value.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> Coding.Value { try reader.row.read(coding) }
}

/// An attribute or another expression of a type with several stored forms.
@_documentation(visibility: internal)
@frozen
public struct ExpressionPart<Root: Model, Value>: ShapePart {
    let source: @Sendable (Root.Fields) -> ExpressionNode
    let coding: ExpressionCoding<Value>

    /// Adds the expression.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) {
        level.add(.expression(source(Root.Fields(path: path))))
    }

    /// Reads the value.
    public func read(_ reader: inout ShapeReader) throws -> Value {
        let value = try coding.decode(reader.row.value(as: coding.type))
        reader.row.skip(1)
        return value
    }
}

/// The key that a to-one holds.
@_documentation(visibility: internal)
@frozen
public struct KeyPart<Root: Model, Target: Model>: ShapePart {
    let source: @Sendable (Root.Fields) -> ToOneField<Target>

    /// Adds the key.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) {
        level.add(.expression(source(Root.Fields(path: path)).node))
    }

    /// Reads the key.
    public func read(_ reader: inout ShapeReader) throws -> Target.Key? {
        guard reader.row.isNull else { return try Target.readKey(from: &reader.row) }
        reader.row.skip(Target.keyColumnCount)
        return nil
    }
}

/// The whole object of a shape's model.
@_documentation(visibility: internal)
@frozen
public struct RootPart<Root: Model>: ShapePart {
    /// Adds the object's columns.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) { level.add(.object(path: path.names)) }

    /// Reads the object.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> Root { try Root(from: &reader.row) }
}

/// The object at the end of a to-one, whole or as a shape. It comes with its owner's row.
@_documentation(visibility: internal)
@frozen
public struct ToOnePart<Root: Model, Content: ShapeContent>: ShapePart {
    let source: @Sendable (Root.Fields) -> ToOneField<Content.Target>
    /// See ``ShapePart/listCount``.
    public let listCount: Int
    @usableFromInline let keyColumns: Int

    init(_ source: @escaping @Sendable (Root.Fields) -> ToOneField<Content.Target>) {
        self.source = source
        listCount = Content.listCount
        keyColumns = Content.Target.keyColumnCount
    }

    /// Adds the key that the to-one holds, and the object's columns.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) throws {
        let field = source(Root.Fields(path: path))
        let first = level.parts.count
        if keyColumns == 1 { level.add(.expression(field.node)) }
        try Content.describe(&level, at: field.path.appending(field.name), isInRow: true)
        level.toOnes.append(first..<level.parts.count)
    }

    /// Reads the object.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> Content.Value {
        guard let value = try readIfThere(&reader) else { throw ShapeReader.missing }
        return value
    }

    /// Reads the object; `nil` for none, at the column that shows it.
    @inlinable
    func readIfThere(_ reader: inout ShapeReader) throws -> Content.Value? {
        if keyColumns == 1 { return try reader.readToOne { try Content.read(&$0, keyColumns: 1) } }
        return reader.row.isNull ? nil : try Content.read(&reader, keyColumns: keyColumns)
    }

    /// Fills its lists.
    @inlinable
    public func fill(_ value: inout Content.Value, from loader: inout ShapeLoader) {
        Content.fill(&value, from: &loader)
    }
}

/// The object at the end of a to-one that may be unset.
@_documentation(visibility: internal)
@frozen
public struct OptionalToOnePart<Root: Model, Content: ShapeContent>: ShapePart {
    @usableFromInline let base: ToOnePart<Root, Content>
    /// See ``ShapePart/listCount``.
    @inlinable public var listCount: Int { base.listCount }

    /// Adds the object's columns.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) throws { try base.describe(&level, at: path) }

    /// Reads the object.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> Content.Value? {
        let first = reader.row.column
        if !reader.row.isNull, let value = try base.readIfThere(&reader) { return value }
        reader.row.column = first
        reader.skipToOne()
        return nil
    }

    /// Fills its lists.
    @inlinable
    public func fill(_ value: inout Content.Value?, from loader: inout ShapeLoader) {
        guard base.listCount > 0 else { return }
        guard var content = value else { return loader.skip(base.listCount) }
        value = nil  // so that its lists aren't copied
        Content.fill(&content, from: &loader)
        value = content
    }
}

/// The objects of a to-many, whole or as shapes. One statement loads them for all owners.
@_documentation(visibility: internal)
@frozen
public struct ToManyPart<Root: Model, Content: ShapeContent>: ShapePart {
    let source: @Sendable (Root.Fields) -> Include<Content.Target>
    /// See ``ShapePart/listCount``.
    @inlinable public var listCount: Int { 1 }

    /// Adds the list.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) throws {
        try level.addList(source(Root.Fields(path: path)), of: Content.self)
    }

    /// Reads nothing: the list comes later.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> [Content.Value] { [] }

    /// Takes the list.
    @inlinable
    public func fill(_ value: inout [Content.Value], from loader: inout ShapeLoader) {
        value = loader.list(of: Content.Value.self)
    }
}

/// The first object of a to-many.
@_documentation(visibility: internal)
@frozen
public struct FirstPart<Root: Model, Content: ShapeContent>: ShapePart {
    @usableFromInline let base: ToManyPart<Root, Content>
    /// See ``ShapePart/listCount``.
    @inlinable public var listCount: Int { 1 }

    /// Adds the list.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) throws { try base.describe(&level, at: path) }

    /// Reads nothing: the object comes later.
    @inlinable
    public func read(_ reader: inout ShapeReader) throws -> Content.Value? { nil }

    /// Takes the object.
    @inlinable
    public func fill(_ value: inout Content.Value?, from loader: inout ShapeLoader) {
        value = loader.list(of: Content.Value.self).first
    }
}

// MARK: Content

/// The content of a relationship in a shape: whole objects, or shapes of them.
@_documentation(visibility: internal)
public protocol ShapeContent: Sendable {
    /// A whole object or a shape.
    associatedtype Value: Sendable
    /// The model at the end of the relationship.
    associatedtype Target: Model
    /// The number of lists in a row.
    static var listCount: Int { get }
    /// Adds columns; `isInRow` as a part of another object's row, where the key shows whether there is an object.
    static func describe(_ level: inout ShapeLevel, at path: FieldPath, isInRow: Bool) throws
    /// Reads one that is part of another object's row.
    static func read(_ reader: inout ShapeReader, keyColumns: Int) throws -> Value
    /// Reads all rows.
    static func read(_ loop: inout ShapeLoop<Value>) throws
    /// Fills one.
    static func fill(_ value: inout Value, from loader: inout ShapeLoader)
    /// Fills all.
    static func fill(_ values: inout [Value], from loader: inout ShapeLoader)
}

/// Whole objects.
@_documentation(visibility: internal)
public enum WholeObject<Target: Model>: ShapeContent {
    /// None: links of whole objects aren't loaded.
    public static var listCount: Int { 0 }

    /// Adds the object's columns.
    public static func describe(_ level: inout ShapeLevel, at path: FieldPath, isInRow: Bool) {
        if isInRow { level.add(.key(path: path.names)) }
        level.add(.object(path: path.names))
    }

    /// Reads an object.
    @inlinable
    public static func read(_ reader: inout ShapeReader, keyColumns: Int) throws -> Target {
        reader.row.skip(keyColumns)
        return try Target(from: &reader.row)
    }

    /// Reads all objects.
    public static func read(_ loop: inout ShapeLoop<Target>) throws {
        while try loop.cursor.next() { loop.values.append(try Target(from: &loop.cursor.reader.row)) }
    }

    /// Nothing.
    @inlinable
    public static func fill(_ value: inout Target, from loader: inout ShapeLoader) {}
    /// Nothing.
    public static func fill(_ values: inout [Target], from loader: inout ShapeLoader) {}
}

/// Shapes.
@_documentation(visibility: internal)
public enum NestedShape<Content: Shape>: ShapeContent {
    /// The model that the shape is about.
    public typealias Target = Content.RootModel
    /// The shape's own.
    public static var listCount: Int { Content.shapeLayout.listCount }

    /// Adds the shape's columns.
    public static func describe(_ level: inout ShapeLevel, at path: FieldPath, isInRow: Bool) throws {
        try Content.shapeLayout.describe(&level, at: path)
    }

    /// Reads a shape.
    @inlinable
    public static func read(_ reader: inout ShapeReader, keyColumns: Int) throws -> Content {
        try Content(from: &reader)
    }

    /// Reads all shapes.
    public static func read(_ loop: inout ShapeLoop<Content>) throws { try Content.read(&loop) }

    /// Fills a shape's lists.
    @inlinable
    public static func fill(_ value: inout Content, from loader: inout ShapeLoader) { value.fill(from: &loader) }
    /// Fills the lists of all shapes.
    public static func fill(_ values: inout [Content], from loader: inout ShapeLoader) {
        Content.fill(&values, from: &loader)
    }
}
