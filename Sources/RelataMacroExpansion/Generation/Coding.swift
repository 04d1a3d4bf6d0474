extension ModelDeclaration {
    /// Reading a row, binding to a statement, visiting links and loading them.
    var coding: [String] { [read, bind, visitLinks, loadLinks] }

    /// Columns are read in the order of the properties. Links that are views have no column, and are unloaded after a
    /// read, regardless of their initial value: read objects have no edits.
    private var read: String {
        member(
            "\(access)init(from reader: inout Relata.RowReader) throws",
            persistent.map { property in
                if property.hasColumns {
                    return "self.\(property.identifier) = try \(property.reading)"
                }
                return "self.\(property.identifier) = \(property.typeName)()"
            })
    }

    private var bind: String {
        member(
            "\(access)func bind(to binder: inout Relata.Binder) throws",
            persistent.filter(\.hasColumns).map(\.binding))
    }

    private var visitLinks: String {
        member(
            "\(access)func visitLinks(_ visitor: inout Relata.LinkVisitor) throws",
            links.filter { $0.link.kind != .through }.map {
                "try self.\($0.property.identifier)._visit(&visitor, at: \($0.index))"
            })
    }
}

extension ModelDeclaration {
    private var loadLinks: String {
        member(
            "\(access)mutating func loadLinks(from loader: inout Relata.LinkLoader)",
            links.map { "self.\($0.property.identifier)._load(&loader, at: \($0.index))" })
    }
}

extension StoredProperty {
    /// The expression that reads the property's columns.
    fileprivate var reading: String {
        if link != nil { return "\(typeName)._read(&reader)" }
        guard let plainType else { return "reader.read(\(codingExpression))" }
        return "reader.\(isOptional ? "readOptional" : "readValue")(\(plainType).self)"
    }

    /// The statement that binds the property's columns.
    fileprivate var binding: String {
        if link != nil { return "try self.\(identifier)._bind(to: &binder)" }
        if plainType == nil { return "try binder.bind(self.\(identifier), \(codingExpression))" }
        return "try binder.\(isOptional ? "bindOptional" : "bindValue")(self.\(identifier))"
    }

    /// The code for the coding of the property's values, which the compiler picks by the property's type.
    var codingExpression: String { codingExpression(of: typeName) }

    /// The coding expression for another spelling of the type.
    func codingExpression(of type: String) -> String { "Relata.coding(of: \(type).self\(encodingArgument))" }
}
