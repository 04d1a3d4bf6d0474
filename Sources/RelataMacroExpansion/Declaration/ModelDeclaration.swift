import SwiftSyntax

/// The content of a struct with `@Model`: the source of all generated parts.
struct ModelDeclaration {
    /// The struct's name as written.
    let name: String
    /// The name with the types around it: `Library.Book`.
    let entityName: String
    /// The struct's access level.
    let visibility: AccessLevel
    /// `table:` and `originalTable:` as written.
    let table: ExprSyntax?
    let originalTable: ExprSyntax?
    /// Whether the struct declares `Codable`, which its key then is too.
    let isCodable: Bool
    /// Every stored property, transient ones included, in order.
    let properties: [StoredProperty]
    /// The properties of the primary key, in order.
    let key: [StoredProperty]
    /// The names of the properties in each `#Unique` and `#Index`.
    let uniques: [[String]]
    let indexes: [[String]]
    /// The names of the attributes in `#Search`; empty without it.
    let search: [String]
    /// Members the struct writes itself, which aren't written again.
    let declaredMembers: DeclaredMembers
    /// Finds the position of a node in the source.
    let locate: SourcePlace.Finder
    /// Whether a mistake was found. The members are generated nevertheless, so that code that uses them causes no
    /// further errors; their bodies would refer to members that may not exist.
    var isBroken = false

    /// The body of a member that is never run, since the model doesn't compile.
    static let unreachable = "fatalError()"

    /// A member with its body.
    func member(_ header: String, _ body: [String]) -> String {
        declaration(header, isBroken ? [Self.unreachable] : body)
    }

    /// The access modifier of generated members, with a space behind it; empty for internal and below.
    var access: String { visibility > .internal ? visibility.modifier : "" }
    /// The properties that are stored: attributes and links.
    var persistent: [StoredProperty] { properties.filter { !$0.isTransient } }
    /// The links, in order; a link's place here is its number at run time.
    var links: [LinkProperty] {
        properties.compactMap { property in property.link.map { (property, $0) } }.enumerated().map {
            LinkProperty(index: $0.offset, property: $0.element.0, link: $0.element.1)
        }
    }
    /// Whether the database assigns the key: a single `Int?`.
    var isKeyAssigned: Bool { key.count == 1 && key[0].type?.isOptional == true }

    /// The name of the property that has the option.
    func property(with option: String) -> StoredProperty? {
        properties.first { $0.attribute?.has(option) == true }
    }
}

/// A place in the source, as literals of the file and the line.
struct SourcePlace {
    typealias Finder = (Syntax) -> SourcePlace?

    let file: String
    let line: String
    /// The column, from 1 on.
    let column: Int

    /// The indentation of a body's statements.
    private static let indentation = 4

    /// The statement at this position in the source, so that the compiler reports its errors here.
    func around(_ statement: String) -> [String] {
        let space = String(repeating: " ", count: max(0, column - 1 - Self.indentation))
        return ["#sourceLocation(file: \(file), line: \(line))", space + statement, "#sourceLocation()"]
    }
}

/// A link and its number among the links of its model.
struct LinkProperty {
    let index: Int
    let property: StoredProperty
    let link: Link
}

/// Members of a struct that replace a generated one, or conflict with it.
struct DeclaredMembers {
    /// The labels of each initialiser.
    private(set) var initializers: Set<[String]> = []
    private(set) var hasEquality = false
    private(set) var hasHash = false
    /// Nested types that have the name of a generated one.
    private(set) var clashes: [TokenSyntax] = []

    init(_ members: MemberBlockItemListSyntax) {
        for member in members {
            if let initializer = member.decl.as(InitializerDeclSyntax.self) {
                initializers.insert(initializer.signature.parameterClause.parameters.map(\.firstName.text))
            } else if let function = member.decl.as(FunctionDeclSyntax.self) {
                let parameters = function.signature.parameterClause.parameters
                if function.name.text == "==" { hasEquality = true }
                if function.name.text == "hash", parameters.first?.firstName.text == "into" { hasHash = true }
            } else if let type = member.decl.asProtocol(NamedDeclSyntax.self),
                ["Key", "Fields"].contains(type.name.text)
            {
                clashes.append(type.name)
            }
        }
    }
}
