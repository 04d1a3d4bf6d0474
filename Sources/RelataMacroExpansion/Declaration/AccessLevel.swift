import SwiftSyntax

/// The access level of a declaration, from the most restrictive to the least.
enum AccessLevel: String, CaseIterable, Comparable {
    case `private`, `fileprivate`, `internal`, package, `public`

    /// The level that the modifiers give, if they give one; `private(set)` and similar modifiers don't.
    init?(_ modifiers: DeclModifierListSyntax) {
        let levels = modifiers.compactMap { $0.detail == nil ? AccessLevel(rawValue: $0.name.text) : nil }
        guard let level = levels.first else { return nil }
        self = level
    }

    static func < (left: AccessLevel, right: AccessLevel) -> Bool { left.rank < right.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The modifier of a declaration elsewhere in the file with the same visibility, followed by a space.
    var modifier: String {
        switch self {
        case .private, .fileprivate: "fileprivate "
        case .internal: ""
        case .package, .public: rawValue + " "
        }
    }
}
