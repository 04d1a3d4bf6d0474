public import Relata

extension Model {
    /// The object and its loaded links, as readable text that is equal in every run, for snapshot tests.
    ///
    /// ```swift
    /// let book = try store.first(Book.all.including { $0.genre; $0.authors })
    /// #expect(try book?.dump() == """
    ///     Book#1
    ///       title: "Good Omens"
    ///       genre: Genre("Fantasy")
    ///       authors (2)
    ///         Author#1
    ///           name: "Terry Pratchett"
    ///         Author#2
    ///           name: "Neil Gaiman"
    ///     """)
    /// ```
    ///
    /// Attributes and links are in the order of their declaration. A to-one that isn't loaded is shown by its key; a
    /// has-one or to-many that isn't loaded is left out, unless it has edits to save. An object that was shown before,
    /// with the same content, is shown as `(above)`.
    ///
    /// Keys that hold a UUID are random, so such an object is named by the number of its first appearance: `Book#1`. So
    /// are UUIDs of the versions 4 and 7 in attributes, `<uuid 1>`, and the stamps of insertion and update, `<date 1>`.
    ///
    /// - Parameter raw: Whether keys, UUIDs and stamps are shown as they are.
    /// - Throws: `RelataError.validation` for a value that no column can hold.
    public func dump(raw: Bool = false) throws -> String { try [self].dump(raw: raw) }
}

extension Sequence where Element: Model {
    /// The objects and their loaded links, as readable text that is equal in every run: see
    /// ``Relata/Model/dump(raw:)``.
    ///
    /// - Throws: `RelataError.validation` for a value that no column can hold.
    public func dump(raw: Bool = false) throws -> String {
        var dump = GraphDump(text: DumpText(raw: raw))
        for object in self { try dump.write(object, after: "") }
        return dump.lines.joined(separator: "\n")
    }
}

/// Writes objects, and the objects of their links inside them.
private struct GraphDump {
    var text: DumpText
    var lines: [String] = []
    private var depth = 0
    /// The texts written for each object: an object may occur again with other links loaded.
    private var written: [String: [any Model]] = [:]

    init(text: DumpText) { self.text = text }

    private mutating func add(_ line: String) {
        lines.append(String(repeating: "  ", count: depth) + line)
    }

    /// An object on separate lines. The first line names the property whose value it is.
    mutating func write<M: Model>(_ object: M, after label: String) throws {
        let name = try object.primaryKey.map { text.object(M.entityName, try M.dumpKey($0), M.keyTypes) }
        let known = name.flatMap { written[$0] } ?? []
        if known.contains(where: { $0 as? M == object }) { return add(label + (name ?? "") + " (above)") }
        add(label + (name ?? "\(M.entityName)(new)"))
        if let name { written[name, default: []].append(object) }
        depth += 1
        defer { depth -= 1 }
        try writeProperties(of: object)
    }

    private mutating func writeProperties<M: Model>(of object: M) throws {
        let links = Dictionary(
            Mirror(reflecting: object).children.compactMap { child -> (String, any DumpableLink)? in
                guard let label = child.label, let link = child.value as? any DumpableLink else { return nil }
                return (label, link)
            }, uniquingKeysWith: { first, _ in first })
        var binder = Binder(collecting: M.entity.properties.count)
        try object.bind(to: &binder)
        var values = binder.values[...]
        for property in M.entity.properties {
            switch property {
            case .attribute(let attribute):
                guard let value = values.popFirst(), M.entity.key != [attribute.name] else { continue }
                let isStamp = [M.entity.createdAt, M.entity.updatedAt].contains(attribute.name)
                add("\(attribute.name): " + text.text(value, attribute.type, isStamp: isStamp))
            case .relationship(let relationship):
                guard let link = links[relationship.name] else { continue }
                values = values.dropFirst(type(of: link).columnCount)
                try write(try link.contents, of: relationship.name)
            }
        }
    }

    private mutating func write(_ contents: LinkContents, of name: String) throws {
        switch contents {
        case .unset: add("\(name): nil")
        case .reference(_, let object?, _): try write(object, after: "\(name): ")
        case .reference(let target, nil, let isMissing):
            let target = target.map { text.object($0.entity, $0.key, $0.types) } ?? "nil"
            add("\(name): \(target)" + (isMissing ? " (missing)" : ""))
        case .partner(.some(let object?), let hasEdits):
            try write(object, after: "\(name)\(hasEdits ? " (edits to save)" : ""): ")
        case .partner(.some(nil), let hasEdits): add("\(name): nil" + (hasEdits ? " (edits to save)" : ""))
        case .partner(nil, let hasEdits), .list(nil, let hasEdits):
            if hasEdits { add("\(name): not loaded (edits to save)") }
        case .list(let objects?, let hasEdits):
            add("\(name) (\(objects.count)\(hasEdits ? ", edits to save" : ""))")
            depth += 1
            defer { depth -= 1 }
            for object in objects { try write(object, after: "") }
        }
    }
}
