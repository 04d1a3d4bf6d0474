import Foundation

/// A transaction in whose middle the program died that wrote a file: SQLite takes it back by the journal beside the file.
enum UnfinishedTransaction {
    /// What SQLite's journals begin with as long as they are needed.
    private static let magic = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])

    /// Whether a file that nobody writes at the moment has a journal that is needed.
    static func isIn(_ path: String) -> Bool {
        guard let journal = FileHandle(forReadingAtPath: path + "-journal") else { return false }
        defer { try? journal.close() }
        return (try? journal.read(upToCount: magic.count)) == magic
    }

    static func message(_ name: String) -> String {
        "\(name) was left in the middle of a transaction, which its journal \(name)-journal takes back when the file is opened for writing: open it once where the file and its folder may be written"
    }
}
