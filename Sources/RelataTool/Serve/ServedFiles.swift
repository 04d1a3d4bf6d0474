#if CommandLineTool && Server
import ArgumentParser
import RelataParse
import RelataServer

/// The settings of files that clients upload.
struct ServedFiles {
    private enum Uploader: String, CaseIterable {
        case everyone = "public"
        case anonymous, users
    }

    let options: FileOptions

    /// `nil` for no files.
    ///
    /// - Throws: `ValidationError` that names an invalid setting; ``RelataError`` if the folder can't be created.
    init?(_ settings: ServeSettings) throws {
        guard let folder = settings.text(.files), !folder.isEmpty else {
            let others: [ServeSetting] = [
                .fileUploads, .maxFile, .fileExtensions, .deniedFileExtensions, .inlineFileTypes, .unusedFiles,
                .signedFiles,
            ]
            if let other = others.first(where: { settings.text($0) != nil }) {
                throw ValidationError("\(other.flag) needs --files, the folder that they are kept in")
            }
            return nil
        }
        let storage = try FolderStorage(folder)
        var options = FileOptions(storage: storage)
        if let seconds = try settings.integer(.signedFiles) {
            options.signing = try storage.signing(lifetime: Double(seconds))
        }
        if let names = settings.list(.fileUploads) {
            let uploaders = try names.map { name in
                guard let uploader = Uploader(rawValue: name.lowercased()) else {
                    let all = Uploader.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--file-uploads must be a list of \(all), not \(name)")
                }
                return uploader
            }
            options.allowsPublicUploads = uploaders.contains(.everyone)
            options.allowsUploadsOfAnonymousUsers = uploaders.contains(.anonymous)
            options.allowsUploadsOfUsers = uploaders.contains(.users)
        }
        if let size = try settings.bytes(.maxFile) { options.maximumSize = size }
        if let ends = settings.list(.fileExtensions) { options.allowedExtensions = Self.extensions(ends) }
        if let ends = settings.list(.deniedFileExtensions) { options.deniedExtensions = Self.extensions(ends) }
        if let types = settings.list(.inlineFileTypes) { options.inlineTypes = Set(types.map { $0.lowercased() }) }
        if settings.text(.unusedFiles) == "" {
            options.unusedLifetime = nil
        } else if let seconds = try settings.integer(.unusedFiles) {
            options.unusedLifetime = Double(seconds)
        }
        options.publicURL = settings.text(.publicURL)
        self.options = options
    }

    /// The extensions in lower case, without leading dots.
    private static func extensions(_ ends: [String]) -> Set<String> {
        Set(ends.map { $0.drop { $0 == "." }.lowercased() })
    }
}
#endif
