/// The fields of an object in a reply, and the pointers whose objects are included.
struct Selection: Hashable, Sendable {
    /// The pointers whose objects are shown, with their selections.
    var included: [String: Selection] = [:]
    /// Whether the objects of all pointers are shown, including those in arrays.
    var includesAll = false
    /// The fields that are shown; `nil` for all. An object's id and stamps are always shown.
    var keys: Set<String>?
    /// The fields that aren't shown.
    var excluded: Set<String> = []

    /// All of an object's own fields.
    init() {}

    static let parameters = ["include", "includeAll", "keys", "excludeKeys"]
    /// The maximum number of names in a path of included objects.
    private static let maximumDepth = 16

    /// Reads `include`, `keys` and `excludeKeys` of a request.
    ///
    /// - Throws: ``ParseError`` 102 for invalid values, and for fields that can't be shown.
    init(_ call: ParseCall) throws(ParseError) {
        includesAll = try call.flag("includeAll")
        for name in try Self.names("include", call) ?? [] { include(try Self.path(name)) }
        if let names = try Self.names("keys", call) {
            keys = []
            for name in names { show(try Self.path(name)) }
        } else if call.body["keys"]?.string != nil {
            // Without names, the fields of every object are still shown.
            keys = []
        }
        for name in try Self.names("excludeKeys", call) ?? [] { exclude(try Self.path(name)) }
    }

    private static func names(_ parameter: String, _ call: ParseCall) throws(ParseError) -> [String]? {
        let names = try call.names(parameter)
        guard let names, names.count > ParseNames.maximumFields else { return names }
        throw ParseError(
            .invalidQuery,
            "\(parameter) has \(names.count) names, which is more than the \(ParseNames.maximumFields) fields of a class"
        )
    }

    private static func path(_ name: String) throws(ParseError) -> ArraySlice<String> {
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count <= maximumDepth else {
            throw ParseError(.invalidQuery, "\(name.prefix(64)) is more than \(maximumDepth) names deep")
        }
        return parts[...]
    }

    /// Shows the objects of the pointers on a path.
    mutating func include(_ path: ArraySlice<String>) {
        guard let name = path.first else { return }
        if name == "*" {
            includesAll = true
        } else {
            included[name, default: Selection()].include(path.dropFirst())
        }
    }

    /// A field beyond a pointer is shown within the pointer's object.
    private mutating func show(_ path: ArraySlice<String>) {
        guard let name = path.first else { return }
        // In place: a copy for each name would take quadratic time.
        if keys == nil { keys = [] }
        keys?.insert(name)
        guard path.count > 1 else { return }
        included[name, default: Selection()].show(path.dropFirst())
    }

    private mutating func exclude(_ path: ArraySlice<String>) {
        guard let name = path.first else { return }
        if path.count == 1 {
            excluded.insert(name)
        } else {
            // Excluding a field of a pointer's object includes the object.
            included[name, default: Selection()].exclude(path.dropFirst())
        }
    }

    /// Whether a field is shown. With `include=*`, pointers and arrays are shown regardless of `keys`.
    func shows(_ field: Field) -> Bool {
        guard !excluded.contains(field.name) else { return false }
        guard let keys, !keys.contains(field.name), !keys.contains("*") else { return true }
        guard includesAll else { return false }
        if case .pointer = field.type { return true }
        return field.type == .array
    }

    /// Whether the score of a search is shown, which isn't a field.
    var showsScore: Bool { keys?.contains("$score") ?? false }

    /// The approximate number of bytes it takes.
    var size: Int {
        let names = (keys ?? []).reduce(0) { $0 + $1.utf8.count + 32 } + excluded.reduce(0) { $0 + $1.utf8.count + 32 }
        return included.reduce(names + 64) { $0 + $1.key.utf8.count + $1.value.size }
    }

    /// The selection for the object of a pointer, or those of an array; `nil` if only pointers are shown.
    subscript(pointer name: String) -> Selection? { included[name] ?? (includesAll ? Selection() : nil) }
}

/// The selections of objects that are fetched after those that point at them: equal ones of a query are one instance,
/// so that many objects can be sorted by it quickly.
final class InnerSelection: Sendable {
    let selection: Selection
    /// The selection for the pointers in a member.
    let included: [String: InnerSelection]

    init(_ selection: Selection, included: [String: InnerSelection]) {
        self.selection = selection
        self.included = included
    }
}
