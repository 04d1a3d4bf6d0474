import Foundation
import RelataCore
import RelataEngine

/// A transaction of a program that died during a write: SQLite rolls it back by the journal beside the file.
enum UnfinishedTransaction {
    /// The first bytes of SQLite's journals while they are needed.
    private static let magic = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])

    /// Refuses a journal that isn't a regular file. SQLite opens it before it reads anything, and would wait for the
    /// writer of a pipe.
    static func checkJournal(of path: String) throws(RelataError) {
        // It is beside the file itself, and not beside a link to it. Following links takes longer than checking that
        // there is none.
        let file = RegularFile.isLink(path) ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
        try RegularFile.check(file + "-journal", for: "a journal")
    }

    /// Whether a file without a current writer has a journal that is needed.
    static func isIn(_ path: String) -> Bool {
        let name = path + "-journal"
        // A pipe isn't waited for here either.
        guard (try? RegularFile.check(name, for: "a journal")) != nil,
            let journal = FileHandle(forReadingAtPath: name)
        else { return false }
        defer { try? journal.close() }
        return (try? journal.read(upToCount: magic.count)) == magic
    }

    static func message(_ name: String) -> String {
        "\(name) was left in the middle of a transaction, which its journal \(name)-journal rolls back when the file is opened for writing: open it once with a writable file and folder"
    }
}
