extension ModelDeclaration {
    /// Reading a row, binding to a statement, visiting links and loading them.
    var coding: [String] { [read, bind, visitLinks, loadLinks] }

    /// Columns are read in the order of the properties. Links that are views have none and start unloaded, whatever
    /// their initial value: read objects have no edits.
    private var read: String {
        member(
            "\(access)init(from reader: inout Relata.RowReader) throws",
            persistent.map { property in
                if property.hasColumns {
                    let value =
                        property.link == nil
                        ? "reader.read(\(property.codingExpression))" : "reader.readLink(\(property.typeName).self)"
                    return "self.\(property.identifier) = try \(value)"
                }
                return "self.\(property.identifier) = .init()"
            })
    }

    private var bind: String {
        member(
            "\(access)func bind(to binder: inout Relata.Binder) throws",
            persistent.filter(\.hasColumns).map {
                $0.link == nil
                    ? "try binder.bind(self.\($0.identifier), \($0.codingExpression))"
                    : "try binder.bindLink(self.\($0.identifier))"
            })
    }

    private var visitLinks: String {
        member(
            "\(access)func visitLinks(_ visitor: inout Relata.LinkVisitor) throws",
            links.filter { $0.link.kind != .through }.map {
                "try visitor.visit(self.\($0.property.identifier), at: \($0.index))"
            })
    }
}

extension ModelDeclaration {
    private var loadLinks: String {
        member(
            "\(access)mutating func loadLinks(from loader: inout Relata.LinkLoader)",
            links.map { "loader.load(&self.\($0.property.identifier), at: \($0.index))" })
    }
}

extension StoredProperty {
    /// How the property's values are read and bound: picked at compile time by its type.
    var codingExpression: String { codingExpression(of: typeName) }

    /// The same for another spelling of the type.
    func codingExpression(of type: String) -> String { "Relata.coding(of: \(type).self\(encodingArgument))" }
}
