import RelataCSQLite
import RelataCore
import RelataEngine

/// `relata_search(text, pattern, options)`: whether a part of a text matches a regular expression; `relata_matches`:
/// whether the whole text does.
///
/// Compiled patterns are kept with the statement, and so is the remaining time of all its searches together. A match of
/// a whole text has a separate time: a large table may take longer than one expression that hangs.
final class StatementSearch {
    private let search: TextSearch
    private let time: TimeLeft

    private final class TimeLeft {
        var duration = TextSearch.limit
    }

    private init(_ search: TextSearch, _ time: TimeLeft) {
        self.search = search
        self.time = time
    }

    typealias Call = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    static let find: Call = { context, _, arguments in run(context, arguments, isWhole: false) }
    static let match: Call = { context, _, arguments in run(context, arguments, isWhole: true) }

    private static func run(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, isWhole: Bool
    ) {
        guard let text = SQLiteValue.text(arguments, 0), let pattern = arguments?[1],
            sqlite3_value_type(pattern) != SQLITE_NULL
        else { return sqlite3_result_null(context) }
        do throws(RelataError) {
            let search = try known(context, arguments, isWhole: isWhole)
            if isWhole { search.time.duration = TextSearch.limit }
            let isFound = try search.search.isFound(in: text, timeLeft: &search.time.duration)
            sqlite3_result_int64(context, isFound ? 1 : 0)
        } catch {
            SQLiteValue.result(context, error)
        }
    }

    /// SQLite keeps data of a constant argument, and data with a negative number, as long as the statement runs.
    private static func known(
        _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, isWhole: Bool
    ) throws(RelataError) -> StatementSearch {
        if let known = sqlite3_get_auxdata(context, 1) {
            return Unmanaged<StatementSearch>.fromOpaque(known).takeUnretainedValue()
        }
        let time: TimeLeft
        if isWhole {
            time = TimeLeft()
        } else if let known = sqlite3_get_auxdata(context, timeNumber) {
            time = Unmanaged<TimeLeft>.fromOpaque(known).takeUnretainedValue()
        } else {
            time = TimeLeft()
            sqlite3_set_auxdata(context, timeNumber, Unmanaged.passRetained(time).toOpaque(), release)
        }
        let options = TextOptions(rawValue: arguments?[2].map { Int(sqlite3_value_int64($0)) } ?? 0)
        let search = StatementSearch(
            try TextSearch(SQLiteValue.text(arguments, 1) ?? "", options: options, isWhole: isWhole), time)
        sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(search).toOpaque(), release)
        return search
    }

    private static let timeNumber: Int32 = -7103

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { object in
        if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    }
}
