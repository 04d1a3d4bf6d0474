import Foundation
import RelataCore

/// The source of an import: the export of another server, or that server itself.
package protocol ImportSource: Sendable {
    /// Whether the descriptions of classes have all fields of their objects.
    var describesAllFields: Bool { get }
    /// The descriptions of classes that the source has.
    func schemas() async throws -> [JSONObject]
    /// The names of the classes with objects.
    func classNames() async throws -> [String]
    /// The relations whose rows are stored separately: `_Join:books:Author`.
    func joinNames() async throws -> [String]
    /// Some objects of a class, or rows of a relation.
    ///
    /// - Parameter position: The end of the page before; `nil` for the first page.
    func page(of name: String, after position: String?) async throws -> ImportPage
    /// The objects of a relation of one object; `nil` if this source stores relations separately.
    func members(of field: String, _ className: String, _ objectID: String, target: String)
        async throws -> [String]?
    /// The content of a file; `nil` if it can't be fetched.
    ///
    /// - Parameter url: The file's URL, if objects contain one.
    func file(_ name: String, at url: String?) async throws -> [UInt8]?
}

/// Some objects of a source.
package struct ImportPage: Sendable {
    package let objects: [JSONObject]
    /// The beginning of the next page; `nil` for the last page.
    package let next: String?

    package init(_ objects: [JSONObject], next: String?) {
        self.objects = objects
        self.next = next
    }
}

/// A folder of JSON files, one for each class: `Book.json`, `_User.json`, `_Join:books:Author.json`. A file contains an
/// object with `results`, an array, or one object per line, as `mongoexport` writes it.
package struct ImportFolder: ImportSource {
    private let files: [String: String]
    private let contents: String?
    package let describesAllFields = false
    private static let pageSize = 500
    private static let pieceSize = 1 << 18
    /// The maximum length of a line. MongoDB's documents are shorter.
    private static let maximumLine = 64 * 1024 * 1024

    /// - Parameter contents: A folder with the contents of files, by their names.
    /// - Throws: `RelataError` for a folder that can't be read, or without JSON files.
    package init(_ path: String, contents: String? = nil) throws(RelataError) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw .fileAccess(path: path, "can't be read as a folder")
        }
        var files: [String: String] = [:]
        for name in names.sorted() where !name.hasPrefix(".") {
            for end in [".json", ".jsonl", ".ndjson"] where name.hasSuffix(end) && name.count > end.count {
                // Some systems don't allow colons in file names.
                let plain = String(name.dropLast(end.count)).replacing("%3A", with: ":")
                guard files.updateValue("\(path)/\(name)", forKey: plain) == nil else {
                    throw .fileAccess(path: path, "has two files of the class \(plain)")
                }
            }
        }
        guard !files.isEmpty else {
            throw .fileAccess(path: path, "has no JSON files, such as Book.json")
        }
        self.files = files
        self.contents = contents
    }

    package func schemas() async throws -> [JSONObject] {
        guard files["_SCHEMA"] != nil else { return [] }
        var all: [JSONObject] = []
        var position: String?
        repeat {
            let page = try await page(of: "_SCHEMA", after: position)
            all += page.objects
            position = page.next
        } while position != nil
        return all
    }

    package func classNames() async throws -> [String] {
        files.keys.filter { !$0.hasPrefix("_Join:") && $0 != "_SCHEMA" }.sorted()
    }

    package func joinNames() async throws -> [String] {
        files.keys.filter { $0.hasPrefix("_Join:") }.sorted()
    }

    package func members(
        of field: String, _ className: String, _ objectID: String, target: String
    ) async throws -> [String]? { nil }

    package func file(_ name: String, at url: String?) async throws -> [UInt8]? {
        guard let contents, (try? FileName(name)) != nil else { return nil }
        return FileManager.default.contents(atPath: "\(contents)/\(name)").map { [UInt8]($0) }
    }

    package func page(of name: String, after position: String?) async throws -> ImportPage {
        guard let path = files[name] else { return ImportPage([], next: nil) }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw RelataError.fileAccess(path: path, "can't be read")
        }
        defer { try? file.close() }
        return try Self.isLines(file) ? try lines(file, path, position) : try whole(path, position)
    }

    /// Whether a file has one object per line, so its first line is a whole object.
    private static func isLines(_ file: FileHandle) throws -> Bool {
        let start = try file.read(upToCount: pieceSize) ?? Data()
        try file.seek(toOffset: 0)
        let first = start.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first.first == UInt8(ascii: "{") else { return first.isEmpty }
        guard let end = first.firstIndex(of: 0x0A) else {
            // The first line is long: a document doesn't begin with `results`.
            return !first.prefix(64).starts(with: Data(#"{"results""#.utf8))
                && !first.prefix(64).starts(with: Data(#"{ "results""#.utf8))
        }
        return (try? JSONParser.parse(first[first.startIndex..<end]))?.object.map {
            $0["results"] == nil
        } ?? false
    }

    private func whole(_ path: String, _ position: String?) throws -> ImportPage {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw RelataError.fileAccess(path: path, "can't be read")
        }
        let json: JSONValue
        do { json = try JSONParser.parse(data) } catch {
            throw RelataError.fileAccess(path: path, "isn't JSON: \(error.message)")
        }
        guard let values = json.array ?? json["results"]?.array else {
            throw RelataError.fileAccess(path: path, "has neither results nor a JSON object on each line")
        }
        // The whole file is in memory, so one page has all remaining objects.
        let objects = try values.dropFirst(Int(position ?? "") ?? 0).map { value in
            guard let object = value.object else {
                throw RelataError.fileAccess(path: path, "contains something that isn't an object")
            }
            return object
        }
        return ImportPage(objects, next: nil)
    }

    /// The number of the line that begins at a byte.
    private static func lineNumber(at offset: UInt64, in path: String) -> Int {
        guard let file = FileHandle(forReadingAtPath: path) else { return 1 }
        defer { try? file.close() }
        var (number, rest) = (1, offset)
        while rest > 0, let piece = try? file.read(upToCount: Int(min(rest, UInt64(pieceSize)))), !piece.isEmpty {
            number += piece.count { $0 == 0x0A }
            rest -= UInt64(piece.count)
        }
        return number
    }

    private func lines(_ file: FileHandle, _ path: String, _ position: String?) throws -> ImportPage {
        var offset = UInt64(position ?? "") ?? 0
        try file.seek(toOffset: offset)
        var objects: [JSONObject] = []
        var rest = Data()
        func read(_ line: Data) throws {
            guard line.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return }
            let problem: String
            do throws(ParseError) {
                if let object = try JSONParser.parse(line).object {
                    objects.append(object)
                    return
                }
                problem = "it is another value"
            } catch {
                problem = error.message
            }
            throw RelataError.fileAccess(
                path: path,
                "has no JSON object in line \(Self.lineNumber(at: offset, in: path)): \(problem). Fix or remove the line, and run the import again"
            )
        }
        while let piece = try file.read(upToCount: Self.pieceSize), !piece.isEmpty {
            rest += piece
            while let end = rest.firstIndex(of: 0x0A) {
                let line = rest[rest.startIndex..<end]
                try read(line)
                offset += UInt64(line.count + 1)
                rest = rest[rest.index(after: end)...]
                if objects.count == Self.pageSize { return ImportPage(objects, next: "\(offset)") }
            }
            rest = Data(rest)
            guard rest.count <= Self.maximumLine else {
                throw RelataError.fileAccess(
                    path: path, "has a line of more than \(Self.maximumLine) bytes")
            }
        }
        try read(rest)
        return ImportPage(objects, next: nil)
    }
}
