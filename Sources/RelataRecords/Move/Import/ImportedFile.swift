import Foundation
import RelataCore
import RelataEngine

/// A file that is imported.
struct ImportedFile: Hashable, Sendable {
    let path: String
    /// The name of the file in messages.
    let name: String
    let format: DataFormat
    /// The class, or the class and its list, that it is named after, or that the caller named.
    let className: String
    /// Whether the caller named it.
    let isNamed: Bool

    /// - Parameter name: The name in messages; the file's own name by default.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a file without a known extension.
    init(_ path: String, name: String? = nil, _ options: ImportOptions) throws(RelataError) {
        let file = URL(fileURLWithPath: path).lastPathComponent
        guard let format = options.format ?? DataFormat(fileName: file) else {
            throw .invalidUse(
                "\(name ?? path): the name doesn't show the format: end it with .jsonl or .csv, or give the format")
        }
        self.path = path
        self.name = name ?? file
        self.format = format
        isNamed = options.className != nil
        let stem =
            DataFormat(fileName: file) == nil ? file : file.split(separator: ".").dropLast().joined(separator: ".")
        className = options.className ?? stem.removingPercentEncoding ?? stem
    }

    /// The file at a path, or those of a folder at it.
    ///
    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a missing path.
    static func files(at path: String, _ options: ImportOptions) throws(RelataError) -> [ImportedFile] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw .fileAccess(path: path, "there is no such file or folder")
        }
        guard isFolder.boolValue else { return [try ImportedFile(path, options)] }
        guard options.className == nil else {
            throw .invalidUse(
                "\(path) is a folder, whose files are named after their classes: name a class for a file only")
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw .fileAccess(path: path, "can't be read: change its permissions")
        }
        var files: [ImportedFile] = []
        for name in names.sorted() {
            guard let format = DataFormat(fileName: name), options.format == nil || options.format == format else {
                continue
            }
            files.append(try ImportedFile(URL(fileURLWithPath: path).appendingPathComponent(name).path, options))
        }
        guard !files.isEmpty else {
            let ends = (options.format.map { [$0] } ?? DataFormat.allCases).map { "." + $0.rawValue }
            throw .fileAccess(path: path, "contains no files that end with \(ends.joined(separator: " or "))")
        }
        var forms: [String: DataFormat] = [:]
        for file in files {
            guard let other = forms.updateValue(file.format, forKey: file.className) else { continue }
            throw .invalidUse(
                "\(path) contains \(file.className) twice, as .\(other.rawValue) and as .\(file.format.rawValue): say which format to import"
            )
        }
        return files
    }
}
