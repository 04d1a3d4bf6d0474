#if Server
import Crypto
import Foundation
import NIOHTTP1
import NIOSSL
import RelataCore
import RelataParse

/// Stores the contents of files in a bucket with S3's interface, named by their SHA-256: `ab/ab34…`.
///
/// ```swift
/// var place = S3Storage.Place(bucket: "library-files", accessKey: key, secretKey: secret)
/// place.endpoint = "https://minio.example.org"
/// options.files = FileOptions(storage: try S3Storage(place))
/// ```
///
/// A content gets its name when it is complete. Several servers may share a bucket.
public struct S3Storage: FileStorage {
    /// The address of a bucket, and the keys for it.
    public struct Place: Sendable {
        /// The store's URL; the bucket is a part of the path. `nil` for Amazon's store in the region.
        public var endpoint: String?
        /// The bucket.
        public var bucket: String
        /// The beginning of the names of all contents, such as `library/`.
        public var prefix = ""
        /// The store's region.
        public var region = "us-east-1"
        /// The access key, which names the signer.
        public var accessKey: String
        /// The secret key, which signs requests.
        public var secretKey: String
        /// The session token of temporary keys; `nil` for other keys.
        public var sessionToken: String?
        /// A PEM file with the trusted certificates for the store; `nil` for those that the system trusts.
        public var certificates: String?

        /// Creates the place of a bucket.
        public init(bucket: String, accessKey: String, secretKey: String) {
            self.bucket = bucket
            self.accessKey = accessKey
            self.secretKey = secretKey
        }
    }

    let place: Place
    var bucket: S3Bucket
    /// The number of bytes of an upload that are in memory at a time.
    var partSize = 8 * 1024 * 1024
    /// The number of bytes that one request reads.
    var pieceSize = 4 * 1024 * 1024
    /// The largest content that a store can copy by one request.
    private static let maximumSize = 5 * 1024 * 1024 * 1024

    /// Creates a storage in a bucket that exists. Nothing is sent to the store yet.
    ///
    /// - Throws: `RelataError` that names an invalid part of the place.
    public init(_ place: Place) throws(RelataError) {
        func isPlain(_ text: String, _ others: String) -> Bool {
            text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || others.utf8.contains(byte)
            }
        }
        guard (3...63).contains(place.bucket.utf8.count), isPlain(place.bucket, ".-_"), !place.bucket.hasPrefix(".")
        else {
            throw .invalidUse(
                "\(place.bucket.prefix(64)) isn't a bucket's name: use 3 to 63 letters, digits, dots, dashes and underscores"
            )
        }
        guard isPlain(place.prefix, ".-_/"), place.prefix.utf8.count <= 512, !place.prefix.hasPrefix("/"),
            !place.prefix.split(separator: "/", omittingEmptySubsequences: false).dropLast().contains(where: {
                $0.isEmpty || $0 == "." || $0 == ".."
            })
        else {
            throw .invalidUse(
                "\(place.prefix.prefix(64)) isn't a prefix in a bucket: use letters, digits, dots, dashes, underscores and single slashes"
            )
        }
        guard !place.region.isEmpty, isPlain(place.region, "-") else {
            throw .invalidUse("\(place.region.prefix(64)) isn't a region such as eu-central-1")
        }
        guard !place.accessKey.isEmpty, isPlain(place.accessKey, "-_./+=:"), !place.secretKey.isEmpty else {
            throw .invalidUse("the store of files needs an access key and a secret key")
        }
        let endpoint = place.endpoint ?? "https://s3.\(place.region).amazonaws.com"
        let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        if let problem = WebAddress.problem(base, needsTLS: false) {
            throw .invalidUse("the store of files can't be at \(endpoint.prefix(256)): \(problem)")
        }
        guard !base.contains("?") else {
            throw .invalidUse("the address of the store of files has parameters: \(base)")
        }
        let tls: NIOSSLContext?
        do {
            tls = base.lowercased().hasPrefix("https:") ? try ClientTLS.context(trusting: place.certificates) : nil
        } catch {
            throw .fileAccess(
                path: place.certificates ?? "the system", "contains no certificates in PEM format: \(error)")
        }
        self.place = place
        bucket = S3Bucket(
            url: "\(base)/\(place.bucket)",
            signature: S3Signature(accessKey: place.accessKey, secretKey: place.secretKey, region: place.region),
            sessionToken: place.sessionToken, tls: tls)
    }

    /// Signs URLs of files by HMAC-SHA-256. The key is derived from the secret key and the bucket, so servers that
    /// share the bucket accept each other's URLs.
    ///
    /// - Parameter lifetime: The number of seconds that a URL is valid.
    public func signing(lifetime: Double) -> FileSigning {
        let text = "addresses of files in \(place.bucket)/\(place.prefix)"
        let key = HMAC<SHA256>.authenticationCode(
            for: Array(text.utf8), using: SymmetricKey(data: Array(place.secretKey.utf8)))
        let derived = SymmetricKey(data: Array(key))
        return FileSigning(lifetime: lifetime) { text in
            Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: derived))
        }
    }

    // MARK: Storing

    /// Writes a content to the bucket. Only one part of a large content is in memory at a time.
    ///
    /// - Throws: The stream's errors; `FileStorageError` if the store can't be used.
    public func store(_ bytes: ByteStream) async throws -> StoredContent {
        var (part, size, digest) = ([UInt8](), 0, SHA256())
        var upload: S3Upload?
        do {
            while let piece = try await bytes.next() {
                try Task.checkCancellation()
                digest.update(data: piece)
                size += piece.count
                guard size <= Self.maximumSize else {
                    throw ParseError(.fileSaveError, "an S3-compatible store accepts files of up to 5 GB")
                }
                part += piece
                while part.count > partSize {
                    var running: S3Upload
                    if let upload { running = upload } else { running = try await S3Upload(in: bucket, draft: draft) }
                    upload = running
                    try await running.add(Array(part.prefix(partSize)))
                    upload = running
                    part.removeFirst(partSize)
                }
            }
            let id = digest.finalize().hexText
            if var running = upload {
                if !part.isEmpty { try await running.add(part) }
                upload = running
                try await running.finish(as: key(of: id))
            } else {
                let request = S3Bucket.Request(
                    method: .PUT, key: key(of: id), headers: ["content-type": "application/octet-stream"], body: part)
                _ = try await bucket.send(request, expecting: [200])
            }
            return StoredContent(id: id, size: size)
        } catch {
            // This task may be cancelled because the client has gone.
            if let upload { await Task { await upload.abandon() }.value }
            throw error
        }
    }

    private var draft: String { "\(place.prefix)new/\(UUID().uuidString)" }
    private func key(of id: String) -> String { "\(place.prefix)\(id.prefix(2))/\(id)" }

    private static func isName(_ id: String) -> Bool {
        id.utf8.count == 64 && id.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    // MARK: Reading

    /// The bytes of a part of a content; `nil` if the bucket doesn't have the content. The bytes of a whole content are
    /// compared with its name, so that a damaged content never ends like an undamaged one.
    ///
    /// - Throws: `FileStorageError` if the store can't be used.
    public func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream? {
        guard Self.isName(id) else { return nil }
        let key = key(of: id)
        guard !range.isEmpty else { return try await head(key) == nil ? nil : ByteStream([]) }
        guard let first = try await piece(of: key, range) else { return nil }
        let isWhole = range.lowerBound == 0 && first.total == range.upperBound
        let reader = Reader(first.bytes, of: range, isWhole ? SHA256() : nil)
        return ByteStream {
            let next = try await reader.next { rest in
                guard let piece = try await piece(of: key, rest) else {
                    throw FileStorageError(
                        "the store of files at \(bucket.url) lost a file's content while it was read")
                }
                return piece.bytes
            }
            if let digest = next?.digest, digest != id {
                throw FileStorageError(
                    "the store of files at \(bucket.url) has other bytes at \(key) than were stored: restore them from a copy, or delete the files with this content"
                )
            }
            return next?.bytes
        }
    }

    /// Some bytes of a content, and the size of the whole if the store tells it.
    private struct Piece {
        let bytes: [UInt8]
        let total: Int?
    }

    /// The first bytes of a range; `nil` for an object that doesn't exist.
    private func piece(of key: String, _ range: Range<Int>) async throws -> Piece? {
        let end = min(range.upperBound, range.lowerBound + pieceSize)
        let request = S3Bucket.Request(
            method: .GET, key: key, headers: ["range": "bytes=\(range.lowerBound)-\(end - 1)"],
            limit: max(pieceSize, 64 * 1024))
        let reply = try await bucket.send(request, expecting: [206, 404])
        if reply.status == .notFound,
            S3Bucket.element("Code", of: String(decoding: reply.body, as: UTF8.self)) == "NoSuchBucket"
        {
            throw FileStorageError("the store of files at \(bucket.url) has no such bucket: create the bucket")
        }
        if reply.status == .notFound { return nil }
        guard reply.body.count == end - range.lowerBound else {
            throw FileStorageError(
                "the store of files at \(bucket.url) sent \(reply.body.count) bytes of \(key) instead of \(end - range.lowerBound): restore the content from a copy, or delete the files with it"
            )
        }
        let total = reply.headers.first(name: "content-range")?.split(separator: "/").last.flatMap { Int($0) }
        return Piece(bytes: reply.body, total: total)
    }

    /// Reads the rest of a content piece by piece.
    private actor Reader {
        private var piece: [UInt8]?
        private var rest: Range<Int>
        private var digest: SHA256?

        /// - Parameters:
        ///   - first: The first bytes of the range.
        ///   - digest: The start of the digest of a whole content; `nil` for a part of one.
        init(_ first: [UInt8], of range: Range<Int>, _ digest: SHA256?) {
            piece = first
            rest = (range.lowerBound + first.count)..<range.upperBound
            self.digest = digest
        }

        /// The next bytes, and with the last ones of a whole content its digest.
        func next(
            _ ask: @Sendable (Range<Int>) async throws -> [UInt8]
        ) async throws -> (bytes: [UInt8], digest: String?)? {
            let bytes: [UInt8]
            if let first = piece {
                piece = nil
                bytes = first
            } else {
                guard !rest.isEmpty else { return nil }
                bytes = try await ask(rest)
                rest = (rest.lowerBound + bytes.count)..<rest.upperBound
            }
            digest?.update(data: bytes)
            return (bytes, rest.isEmpty ? digest?.finalize().hexText : nil)
        }
    }

    // MARK: Deleting

    /// Deletes a content, unless it was stored again after a time.
    ///
    /// - Returns: Whether the bucket no longer has the content.
    /// - Throws: `FileStorageError` if the store can't be used.
    public func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool {
        guard Self.isName(id) else { return true }
        let asked = Date()
        guard let headers = try await head(key(of: id)) else { return true }
        // Both times are from the store's clock, which may differ from this machine's. They are whole seconds.
        guard let now = Self.date(headers.first(name: "date")),
            let stored = Self.date(headers.first(name: "last-modified")),
            now.timeIntervalSince(stored) - 1 > asked.timeIntervalSince(time)
        else { return false }
        _ = try await bucket.send(S3Bucket.Request(method: .DELETE, key: key(of: id)), expecting: [200, 204, 404])
        return true
    }

    private func head(_ key: String) async throws -> HTTPHeaders? {
        let reply = try await bucket.send(S3Bucket.Request(method: .HEAD, key: key), expecting: [200, 404])
        return reply.status == .notFound ? nil : reply.headers
    }

    /// A time in the form of header fields: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func date(_ text: String?) -> Date? {
        guard let text else { return nil }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text)
    }
}

/// A multipart upload of a large content, under a temporary name until it is complete.
struct S3Upload: Sendable {
    private let bucket: S3Bucket
    private let draft: String
    private let id: String
    /// The ETags of the uploaded parts.
    private var tags: [String] = []

    init(in bucket: S3Bucket, draft: String) async throws {
        self.bucket = bucket
        self.draft = draft
        let reply = try await bucket.send(
            S3Bucket.Request(method: .POST, key: draft, query: [("uploads", "")]), expecting: [200])
        guard let id = S3Bucket.element("UploadId", of: String(decoding: reply.body, as: UTF8.self)), !id.isEmpty else {
            throw FileStorageError("the store of files at \(bucket.url) didn't begin a multipart upload")
        }
        self.id = id
    }

    mutating func add(_ part: [UInt8]) async throws {
        let reply = try await bucket.send(
            S3Bucket.Request(
                method: .PUT, key: draft, query: [("partNumber", "\(tags.count + 1)"), ("uploadId", id)], body: part),
            expecting: [200])
        guard let tag = reply.headers.first(name: "etag") else {
            throw FileStorageError("the store of files at \(bucket.url) gave no ETag for a part of an upload")
        }
        tags.append(tag)
    }

    /// Completes the upload, and gives the content its name.
    func finish(as key: String) async throws {
        let parts = tags.enumerated().map { number, tag in
            let plain = tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
            return "<Part><PartNumber>\(number + 1)</PartNumber><ETag>\(plain)</ETag></Part>"
        }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        _ = try await bucket.send(
            S3Bucket.Request(method: .POST, key: draft, query: [("uploadId", id)], body: Array(body.utf8)),
            expecting: [200])
        let name = bucket.url.split(separator: "/").last ?? ""
        _ = try await bucket.send(
            S3Bucket.Request(method: .PUT, key: key, headers: ["x-amz-copy-source": "/\(name)/\(draft)"]),
            expecting: [200])
        _ = try? await bucket.send(S3Bucket.Request(method: .DELETE, key: draft), expecting: [200, 204, 404])
    }

    /// Removes the uploaded parts.
    func abandon() async {
        for query in [[("uploadId", id)], []] {
            _ = try? await bucket.send(
                S3Bucket.Request(method: .DELETE, key: draft, query: query), expecting: [200, 204, 404])
        }
    }
}
#endif
