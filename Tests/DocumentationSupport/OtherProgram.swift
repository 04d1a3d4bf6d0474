import RelataEngine
import RelataSQLite

/// A program that knows nothing of Relata, and makes a file for an example.
public enum OtherProgram {
    /// Runs SQL, which may be several statements, in the file at a path.
    public static func run(_ sql: String, in path: String) throws {
        let connection = try Connection(path: path)
        try connection.execute(sql)
        try connection.close()
    }
}
