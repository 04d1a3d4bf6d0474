import SwiftSyntax

extension ModelDeclaration {
    /// Reading a row, binding to a statement and visiting links.
    var coding: [DeclSyntax] { [read, bind, visitLinks] }

    /// Columns are read in the order of the properties; links that are views have none and start unloaded.
    private var read: DeclSyntax {
        declaration(
            "\(access)init(from reader: inout Relata.RowReader) throws",
            persistent.compactMap { property in
                if property.hasColumns {
                    return "self.\(property.identifier) = "
                        + "try reader.read(\(property.typeName).self\(property.encodingArgument))"
                }
                return property.initialValue == nil ? "self.\(property.identifier) = .init()" : nil
            })
    }

    private var bind: DeclSyntax {
        declaration(
            "\(access)func bind(to binder: inout Relata.Binder) throws",
            persistent.filter(\.hasColumns).map {
                "try binder.bind(self.\($0.identifier)\($0.encodingArgument))"
            })
    }

    private var visitLinks: DeclSyntax {
        declaration(
            "\(access)func visitLinks(_ visitor: inout Relata.LinkVisitor) throws",
            links.filter { $0.link.kind != .through }.map {
                "try visitor.visit(self.\($0.property.identifier), at: \($0.index))"
            })
    }
}
