import Foundation
import GRDBSQLite
import RelataCore

/// The orders of languages, each a collation that a connection learns when a statement names it first.
final class LocaleCollation: Sendable {
    private let locale: TextLocale

    private init(_ locale: TextLocale) { self.locale = locale }

    /// What SQLite calls when a statement names a collation that the connection doesn't know.
    static let register:
        @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int32, UnsafePointer<CChar>?) -> Void = {
            _, handle, _, name in
            guard let handle, let name, let locale = TextLocale(collation: String(cString: name)) else { return }
            let collation = Unmanaged.passRetained(LocaleCollation(locale))
            // SQLite lets go of a collation when the connection closes, but not of one that it didn't take.
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
            let known = Unmanaged<LocaleCollation>.fromOpaque(collation).takeUnretainedValue()
            let result = known.locale.compare(
                String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self))
            return Int32(result.rawValue)
        }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { collation in
        if let collation { Unmanaged<LocaleCollation>.fromOpaque(collation).release() }
    }
}
