/// A picture of a schema: entities as boxes with their attributes, relationships as lines between them.
///
/// A line is one relationship with both of its sides. The name of each side and its delete rule are written where the
/// line leaves the entity that declares it. An arrow head shows the target of the other side: a single one for one
/// object, a double one for many. A line without a head at one end has no declared inverse.
///
/// ```swift
/// let diagram = store.schema.diagram()
/// try diagram.svg.write(toFile: "schema.svg", atomically: true, encoding: .utf8)
/// ```
public struct Diagram: Sendable {
    /// An entity.
    struct Box: Sendable {
        let name: String
        let rows: [Row]
        /// The number of attributes left out of a box that would be too long.
        let hiddenRows: Int
        /// Whether a relationship of another entity goes through this one.
        let isMiddle: Bool
    }

    /// An attribute, or a relationship that goes through another entity.
    struct Row: Sendable {
        let name: String
        let detail: String
        let isKey: Bool
        let isRelationship: Bool
    }

    /// A relationship.
    struct Line: Sendable {
        let source: End
        let target: End
        /// Whether the link is stored in a separate table.
        let isManyToMany: Bool
        /// Whether each source has a target.
        let isRequired: Bool
    }

    /// The end of a line at an entity.
    struct End: Sendable {
        /// The entity, as a number in ``Diagram/boxes``.
        let box: Int
        /// The property that this entity declares, if it declares one.
        let name: String?
        /// The rule for the other side when an object of this entity is deleted; `nil` if it isn't worth showing.
        let rule: DeleteRule?
        /// The arrow head here, for the link that leads here from the other side.
        let head: Head

        /// The text at this end.
        var label: String {
            [name, rule.map { "[\($0.rawValue)]" }].compactMap(\.self).joined(separator: " ")
        }
    }

    /// An arrow head.
    enum Head: String, Sendable { case none, one, many }

    /// The entities, in the schema's order.
    let boxes: [Box]
    /// The relationships.
    let lines: [Line]

    /// The most rows of a box: a table with hundreds of columns would be unreadable.
    static let maximumRows = 30

    init(_ schema: Schema) {
        let middles = Set(
            schema.tables.flatMap { table in
                table.links.values.compactMap { link -> Int? in
                    if case .through(let inverse, _) = link { schema.references[inverse].source } else { nil }
                }
            })
        boxes = schema.tables.map { Self.box($0, in: schema, isMiddle: middles.contains($0.index)) }
        lines = schema.references.map(Self.line) + schema.joins.map(Self.line)
    }

    private static func box(_ table: Table, in schema: Schema, isMiddle: Bool) -> Box {
        let attributes = table.entity.attributes.map { attribute in
            Row(
                name: attribute.name, detail: attribute.type.word + (attribute.isOptional ? "?" : ""),
                isKey: table.entity.key.contains(attribute.name), isRelationship: false)
        }
        let derived = table.entity.relationships.compactMap { relationship -> Row? in
            let detail: String
            switch table.links[relationship.name] {
            case .through(let inverse, _)?: detail = "via \(schema.tables[schema.references[inverse].source].name)"
            case .matched(let link)? where link.isForward: detail = "by \(link.columns.joined(separator: ", "))"
            default: return nil
            }
            return Row(
                name: relationship.name, detail: "\(relationship.target) \(detail)", isKey: false,
                isRelationship: true)
        }
        let shown = attributes.count > maximumRows ? Array(attributes.prefix(maximumRows - 1)) : attributes
        return Box(
            name: table.name, rows: shown + derived, hiddenRows: attributes.count - shown.count, isMiddle: isMiddle)
    }

    private static func line(_ reference: Reference) -> Line {
        Line(
            source: End(
                box: reference.source, name: reference.property,
                rule: reference.onSourceDelete == .nullify ? nil : reference.onSourceDelete,
                head: reference.inverse == nil ? .none : reference.isUnique ? .one : .many),
            target: End(
                box: reference.target, name: reference.inverse, rule: reference.onTargetDelete, head: .one),
            isManyToMany: false, isRequired: !reference.isOptional)
    }

    private static func line(_ join: Join) -> Line {
        Line(
            source: End(
                box: join.source, name: join.property,
                rule: join.onSourceDelete == .nullify ? nil : join.onSourceDelete,
                head: join.inverse == nil ? .none : .many),
            target: End(
                box: join.target, name: join.inverse,
                rule: join.onTargetDelete == .nullify ? nil : join.onTargetDelete, head: .many),
            isManyToMany: true, isRequired: false)
    }
}

extension Schema {
    /// A picture of the entities and their relationships.
    public func diagram() -> Diagram { Diagram(self) }
}

extension AttributeType {
    /// The type in one word.
    package var word: String {
        switch self {
        case .boolean: "boolean"
        case .integer: "integer"
        case .real: "real"
        case .decimal: "decimal"
        case .text: "text"
        case .date: "date"
        case .data: "data"
        case .uuid: "uuid"
        case .json: "json"
        }
    }
}
