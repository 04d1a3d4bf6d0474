/// Decides which columns can hold values of which types.
enum TypeChange {
    /// Whether a column of the declared type holds values of the type without changing them.
    static func fits(_ type: AttributeType, declaredType: String) -> Bool {
        if declaredType.isEmpty || AttributeType(declaredType: declaredType) == type { return true }
        let affinity = Affinity(declaredType: declaredType)
        switch type {
        case .boolean, .integer, .date(.microseconds): return affinity == .integer || affinity == .numeric
        // A column of integers keeps fractions as they are.
        case .real, .date(.seconds): return [.real, .numeric, .integer].contains(affinity)
        case .decimal: return affinity == .text || affinity == .numeric
        case .text, .json: return affinity == .text
        case .date(.iso8601): return affinity == .text || affinity == .numeric
        case .uuid(.text): return affinity == .text || declaredType.uppercased().contains("UUID")
        case .uuid(.blob): return affinity == .blob || declaredType.uppercased().contains("UUID")
        case .data: return affinity == .blob
        }
    }

    /// Whether every stored value of the old type is one of the new type.
    static func isWidening(from old: AttributeType, to new: AttributeType) -> Bool {
        switch (old, new) {
        case _ where old == new: true
        case (.boolean, .integer), (.boolean, .real), (.integer, .real): true
        case (_, .text): old.storage == .text
        case (.uuid(.blob), .data): true
        default: false
        }
    }

    /// The storage classes that SQLite may keep values of a type in.
    static func storageClasses(_ type: AttributeType) -> [String] {
        switch type.storage {
        case .integer: ["integer", "null"]
        case .real, .numeric: ["real", "integer", "null"]
        case .text: ["text", "null"]
        case .blob: ["blob", "null"]
        }
    }
}
