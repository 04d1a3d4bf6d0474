import Foundation
import RelataCore
import RelataEngine

extension DatabaseLocation {
    /// Copies a database into the empty one at this location, as ``DatabaseCopy`` does. A copy that is refused before
    /// anything is written leaves no file.
    ///
    /// - Parameter report: Called with each step. An error that it throws stops the copy.
    /// - Throws: The errors of ``DatabaseCopy``; ``RelataError/invalidUse(_:)`` for a location in memory, which ends with
    ///   the copy.
    package func copy(
        from source: Connection, _ report: (DatabaseCopy.Progress) throws -> Void
    ) throws -> [DatabaseCopy.Outcome] {
        if isMemory { throw RelataError.invalidUse("a copy in memory would be lost: name a file or a server's URL") }
        let isNew = file.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        if let file { try RegularFile.check(file, for: "a database") }
        let copy = try connect(isReadOnly: false)
        do {
            let outcomes = try DatabaseCopy.run(from: source, to: copy, report)
            try copy.close()
            return outcomes
        } catch {
            try? copy.close()
            if isNew, let file {
                let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
                if size == 0 { try? FileManager.default.removeItem(atPath: file) }
            }
            throw error
        }
    }
}
