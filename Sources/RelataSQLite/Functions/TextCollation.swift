import RelataCSQLite
import Foundation
import RelataCore
import RelataEngine

/// Collations that are registered when a statement first names them: the orders of languages, and those that GRDB
/// declares in the files of its apps.
final class TextCollation: Sendable {
    private let order: @Sendable (String, String) -> ComparisonResult

    private init(_ order: @escaping @Sendable (String, String) -> ComparisonResult) { self.order = order }

    /// The collation of a name, if it is one of these.
    private static func named(_ name: String) -> TextCollation? {
        if let locale = TextLocale(collation: name) { return TextCollation { locale.compare($0, $1) } }
        return switch name.lowercased() {
        case "swiftcompare":
            TextCollation { $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending }
        case "swiftcaseinsensitivecompare": TextCollation { $0.caseInsensitiveCompare($1) }
        case "swiftlocalizedcaseinsensitivecompare": TextCollation { $0.localizedCaseInsensitiveCompare($1) }
        case "swiftlocalizedcompare": TextCollation { $0.localizedCompare($1) }
        case "swiftlocalizedstandardcompare": TextCollation { $0.localizedStandardCompare($1) }
        default: nil
        }
    }

    /// Called by SQLite when a statement names an unknown collation.
    static let register:
        @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?) -> Void = {
            _, handle, _, name in
            guard let handle, let name, let found = named(String(cString: name)) else { return }
            let collation = Unmanaged.passRetained(found)
            // SQLite releases a collation when the connection closes, but not one that it refused.
            guard
                sqlite3_create_collation_v2(
                    handle, name, SQLITE_UTF8, collation.toOpaque(), compare, release) == SQLITE_OK
            else { return collation.release() }
        }

    private static let compare:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
        ) -> Int32 = { collation, leftCount, left, rightCount, right in
            guard let collation else { return 0 }
            let left = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
            let right = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
            if left.elementsEqual(right) { return 0 }
            let known = Unmanaged<TextCollation>.fromOpaque(collation).takeUnretainedValue()
            return Int32(
                known.order(String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self)).rawValue)
        }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { collation in
        if let collation { Unmanaged<TextCollation>.fromOpaque(collation).release() }
    }
}
