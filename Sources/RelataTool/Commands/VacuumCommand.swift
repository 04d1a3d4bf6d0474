#if CommandLineTool
import ArgumentParser
import RelataCore
import RelataEngine
import RelataRecords

/// `relata vacuum FILE`
struct VacuumCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vacuum",
        abstract: "Compacts a database, and updates the statistics of its query planner.",
        discussion: """
            Other processes can read in the meantime, and writers wait. A file needs up to twice its size while it is \
            rewritten. Imports of many rows update the planner's statistics automatically.
            """)

    @OptionGroup var source: FileArgument

    func run() throws {
        let store = try ToolDatabase.store(at: source.file, isReadOnly: false)
        let before = try size(store)
        try Progress.during("compacting \(source.file)") { _ in try store.compact() }
        let after = try size(store)
        try store.close()
        let sizes = [before, after].compactMap(\.self)
        print(
            "\(try ToolDatabase.name(source.file)): "
                + (sizes.count == 2 ? "\(sizes[1]) bytes, after \(sizes[0])" : "compacted"))
    }

    /// The number of bytes a file takes once its log is copied into it; `nil` on a server.
    private func size(_ store: RecordStore) throws -> Int64? {
        try store.read { transaction in
            guard transaction.connection.dialect == .sqlite,
                case .integer(let pages)? = try transaction.connection.value(SQLStatement("PRAGMA page_count")),
                case .integer(let size)? = try transaction.connection.value(SQLStatement("PRAGMA page_size"))
            else { return nil }
            return pages * size
        }
    }
}
#endif
