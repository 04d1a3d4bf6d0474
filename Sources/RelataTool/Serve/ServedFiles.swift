#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataParse
import RelataServer

/// The settings of files that clients upload.
struct ServedFiles {
    private enum Uploader: String, CaseIterable {
        case everyone = "public"
        case anonymous, users
    }

    let options: FileOptions

    /// Reads the settings; `nil` if there is no `--files`.
    ///
    /// - Throws: `ValidationError` that names an invalid setting; ``RelataError`` if the folder can't be created.
    init?(_ settings: ServeSettings) throws {
        guard let folder = settings.text(.files), !folder.isEmpty else {
            let others: [ServeSetting] = [
                .fileUploads, .maxFile, .fileExtensions, .deniedFileExtensions, .inlineFileTypes, .unusedFiles,
                .signedFiles, .s3Endpoint, .s3Region, .s3Certificates,
            ]
            if let other = others.first(where: { settings.text($0) != nil }) {
                throw ValidationError("\(other.flag) needs --files, where they are stored")
            }
            return nil
        }
        let lifetime = try settings.integer(.signedFiles).map(Double.init)
        var options: FileOptions
        if let place = try Self.place(folder, settings) {
            let storage = try S3Storage(place)
            options = FileOptions(storage: storage)
            options.signing = lifetime.map(storage.signing)
        } else {
            let storage = try FolderStorage(folder)
            options = FileOptions(storage: storage)
            options.signing = try lifetime.map { try storage.signing(lifetime: $0) }
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

    /// The bucket of `s3://BUCKET/PREFIX`; `nil` for a folder.
    ///
    /// - Throws: `ValidationError` for a bucket without keys, or for a folder with settings of a bucket.
    private static func place(_ text: String, _ settings: ServeSettings) throws -> S3Storage.Place? {
        guard text.hasPrefix("s3://") else {
            let others: [ServeSetting] = [.s3Endpoint, .s3Region, .s3Certificates]
            if let other = others.first(where: { settings.text($0) != nil }) {
                throw ValidationError("\(other.flag) needs --files s3://BUCKET")
            }
            return nil
        }
        // An empty bucket stays empty, so that it is refused: it isn't the prefix.
        let parts = text.dropFirst("s3://".count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        let environment = ProcessInfo.processInfo.environment
        guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            throw ValidationError(
                "--files s3://BUCKET needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        }
        var place = S3Storage.Place(bucket: parts.first ?? "", accessKey: key, secretKey: secret)
        if parts.count > 1, !parts[1].isEmpty { place.prefix = parts[1].hasSuffix("/") ? parts[1] : parts[1] + "/" }
        place.sessionToken = environment["AWS_SESSION_TOKEN"]
        place.endpoint = settings.text(.s3Endpoint)
        if let region = settings.text(.s3Region) { place.region = region }
        place.certificates = settings.text(.s3Certificates)
        return place
    }

    /// The extensions in lower case, without leading dots.
    private static func extensions(_ ends: [String]) -> Set<String> {
        Set(ends.map { $0.drop { $0 == "." }.lowercased() })
    }
}
#endif
