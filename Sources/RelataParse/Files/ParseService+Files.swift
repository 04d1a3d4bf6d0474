import Foundation
import RelataCore
import Synchronization

extension ParseService {
    /// Whether a path belongs to files.
    private static func isOfFiles(_ path: String) -> Bool { path == "/files" || path.hasPrefix("/files/") }

    /// The largest body of an upload that is streamed (``WireRequest/stream``); `nil` for a request whose body is
    /// collected first: all except uploads with the keys in the header fields.
    ///
    /// - Throws: ``ParseError/unauthorized`` for a request that is refused regardless of its body.
    public func maximumUpload(
        method: String, path: String, headers: [String: String]
    ) throws(ParseError) -> Int? {
        guard let files = options.files, method == "POST", Self.isOfFiles(path) else { return nil }
        // A request with another `_method` isn't an upload, and has the limits of its method.
        let named = headers["x-http-method-override"]?.uppercased() ?? "POST"
        guard named == "POST", try keys.rights(headers) != nil else { return nil }
        return files.maximumSize
    }

    /// Answers a request for a file, which needs no keys; `nil` for any other.
    ///
    /// - Parameter subject: The caller for the app's hooks; `nil` for the sender of the request.
    func download(_ request: WireRequest, as subject: AccessSubject?) async throws -> WireReply? {
        guard let files = options.files, request.method == "GET", Self.isOfFiles(request.path) else { return nil }
        let path = try ParseCall.path(request.path)
        let isOfMetadata = path.count == 4 && path[2] == "metadata"
        guard path.count == 3 || isOfMetadata else { return nil }
        guard path[1] == keys.applicationID else {
            throw ParseError(.operationForbidden, "Invalid application ID.", status: 403)
        }
        let name = path[path.count - 1]
        try await budget?.take(CountedRequest(request.method, path), Caller(), request.address)
        let rights = try keys.rights(request.headers)
        let isMaster = rights?.isMaster == true
        if isMaster { _ = try keys.check(request.headers, from: request.address) }
        if let signing = files.signing, !isMaster,
            !signing.admits(name, try ParseCall.parameters(request.query), at: Date())
        {
            throw ParseError.addressIsOver
        }
        let file = try await store.read(as: .master) { try $0.file(name) }
        guard let file else {
            if isOfMetadata { return WireReply([:]) }
            throw ParseError.noSuchFile
        }
        let hooked = try await hookedDownload(of: file, files) { () throws(ParseError) in
            try ParseCall(ofFile: request, path, rights, as: subject, files.signing)
        }
        if let hooked { try await willFind(hooked) }
        if isOfMetadata { return WireReply(["metadata": .object(file.metadata), "tags": .object(file.tags)]) }
        var reply = try await reply(with: file, to: request, files)
        var isAttachment = !files.isInline(file.contentType)
        if let hooked { isAttachment = try await didFind(hooked, isAttachment: isAttachment) }
        if isAttachment, reply.file != nil {
            reply.headers["content-disposition"] = "attachment; filename=\"\(FileName.given(file.name))\""
        }
        return reply
    }

    private func reply(
        with file: StoredFile, to request: WireRequest, _ files: FileOptions
    ) async throws -> WireReply {
        var headers = [
            "etag": file.tag, "accept-ranges": "bytes", "cache-control": "no-cache",
            "x-content-type-options": "nosniff",
            // Even if a browser treats the file as a page, no script in it runs.
            "content-security-policy": "default-src 'none'; sandbox",
        ]
        func reply(_ status: Int, _ size: Int, _ bytes: ByteStream) -> WireReply {
            var reply = WireReply(status: status, body: [])
            reply.headers = headers
            reply.file = FileReply(contentType: file.contentType, size: size, bytes: bytes)
            reply.isOfRead = true
            return reply
        }
        if let known = request.headers["if-none-match"], EntityTags(known).contains(file.tag) {
            return reply(304, 0, ByteStream([]))
        }
        var range = ByteRange(request.headers["range"], size: file.content.size)
        if let condition = request.headers["if-range"], condition != file.tag { range = .all }
        let part: Range<Int>
        switch range {
        case .all: part = 0..<file.content.size
        case .part(let asked):
            part = asked
            headers["content-range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.content.size)"
        case .beyond:
            var reply = WireReply(ParseError(.otherCause, "the file has \(file.content.size) bytes", status: 416))
            reply.headers = ["content-range": "bytes */\(file.content.size)"]
            return reply
        }
        guard let bytes = try await files.storage.read(file.content.id, part) else { throw ParseError.noSuchFile }
        return reply(range == .all ? 200 : 206, part.count, bytes)
    }

    // MARK: Uploads and deletions

    /// Answers a request about files: an upload, or a deletion.
    func files(_ call: ParseCall, _ stream: ByteStream?) async throws -> WireReply {
        guard let files = options.files, store.models == nil else { throw ParseError.filesAreOff }
        switch (call.method, call.path.count) {
        case (.post, 1): throw ParseError(.invalidFileName, "Filename not provided.")
        case (.post, 2): return try await upload(call, stream, files)
        case (.delete, 2): return try await delete(file: call.path[1], call, files)
        default: throw ParseError.impossible(call)
        }
    }

    private func upload(_ call: ParseCall, _ stream: ByteStream?, _ files: FileOptions) async throws -> WireReply {
        try await checkMayUpload(call, files)
        let name = try FileName(call.path[1])
        let type = call.contentType
        if !call.isMaster { try files.checkExtension(name, type: type) }
        var file = StoredFile(name: name.stored(type: type), content: StoredContent(id: "", size: 0))
        (file.metadata, file.tags) = (try call.fileData("metadata"), try call.fileData("tags"))
        try options.prohibitedNames.check(file.metadata)
        try options.prohibitedNames.check(file.tags)
        try await makeFiles()
        let cloud = try await hookCall(call, ofFiles: [.beforeSave, .afterSave])
        file.content = try await files.storage.store(try Self.content(call, stream).limited(to: files.maximumSize))
        do {
            if let cloud { try await willSave(&file, named: name, call, cloud, files) }
            let stored = file
            try await store.write(as: .master) { try $0.add(stored) }
        } catch {
            // The content is unused now, unless another file has it.
            leavingContents.add(file.content.id)
            throw error
        }
        if let cloud { await didSave(file, call, cloud, files) }
        let url = fileURLs.url(of: file.name)
        return WireReply(
            status: 201, ["name": .string(file.name), "url": .string(url)], location: url)
    }

    /// - Throws: ``ParseError`` 130 for a caller that may not upload.
    private func checkMayUpload(_ call: ParseCall, _ files: FileOptions) async throws {
        // An expired session is refused, even if everybody may upload.
        let user = try await store.read(as: call.caller) { transaction -> StoredUser? in
            guard let session = transaction.caller.session else { return nil }
            return try transaction.user("objectId", session.user)
        }
        if call.isMaster { return }
        let (isAllowed, who) =
            switch user {
            case nil: (files.allowsPublicUploads, "public")
            case let user? where user.authData[UserFields.anonymous] != nil:
                (files.allowsUploadsOfAnonymousUsers, "anonymous user")
            case _?: (files.allowsUploadsOfUsers, "authenticated user")
            }
        guard isAllowed else { throw ParseError(.fileSaveError, "File upload by \(who) is disabled.") }
    }

    private static func content(_ call: ParseCall, _ stream: ByteStream?) throws(ParseError) -> ByteStream {
        if let stream { return stream }
        guard let text = call.body["base64"]?.string, let data = Data(base64Encoded: text) else {
            throw ParseError(.fileSaveError, "Invalid file upload.")
        }
        return ByteStream(Array(data))
    }

    /// Creates the class of files, if it doesn't exist.
    func makeFiles() async throws {
        if store.currentClasses.hasFiles { return }
        try await store.alter { draft, _ in draft.addInternalClass(InternalClasses.file) }
        guard store.currentClasses.hasFiles else { throw ParseError.filesTableIsForeign }
    }

    private func delete(file name: String, _ call: ParseCall, _ files: FileOptions) async throws -> WireReply {
        guard call.isMaster else { throw ParseError.masterKeyRequired }
        let isForced = try call.flag("force")
        let doomed = try await store.read(as: call.caller) { try $0.file(name) }
        let cloud = doomed == nil ? nil : try await hookCall(call, ofFiles: [.beforeDelete, .afterDelete])
        if let doomed, let cloud { try await willDelete(doomed, call, cloud, files) }
        let content = try await delete(file: name, isForced: isForced)
        // The file is gone, even if its content can't be deleted now: `tendFiles` tries again, and reports the reason.
        try? await deleteUnused([content], files)
        if let doomed, let cloud { await didDelete(doomed, call, cloud, files) }
        return WireReply([:])
    }

    /// Deletes a file, but not yet its content.
    ///
    /// - Returns: The name of the content.
    /// - Throws: ``ParseError`` 153 for a file that doesn't exist, or that objects refer to.
    private func delete(file name: String, isForced: Bool) async throws -> String {
        try await store.write(as: .master) { transaction in
            guard let file = try transaction.file(name) else {
                throw ParseError(.fileDeleteError, "Could not delete file.")
            }
            if isForced { try transaction.forgetUses(of: name) }
            do {
                try transaction.deleteFiles([name])
            } catch RelataError.deleteDenied(let blockers) {
                let objects = blockers.prefix(3).map { "\($0.object.entity) \($0.object.key)" }.joined(separator: ", ")
                throw ParseError(
                    .fileDeleteError,
                    "Could not delete file: objects refer to it (\(objects)). Delete them, change their references, or add force=1"
                )
            }
            return file.content.id
        }
    }

    /// Deletes the unused ones of some contents. A content that was stored recently may belong to an upload in
    /// progress: it is checked again later.
    ///
    /// - Throws: The first error. Contents that couldn't be deleted are tried again later.
    private func deleteUnused(_ contents: [String], _ files: FileOptions) async throws {
        var left = contents[...]
        var failure: (any Error)?
        do {
            left = try await store.read(as: .master) { try $0.unused(contents) }[...]
            let time = Date(timeIntervalSinceNow: -files.contentLifetime)
            while let content = left.first {
                do {
                    if try await files.storage.delete(content, unlessStoredSince: time) == false {
                        leavingContents.add(content)
                    }
                } catch {
                    try Task.checkCancellation()
                    leavingContents.add(content)
                    failure = failure ?? error
                }
                left.removeFirst()
            }
        } catch {
            for content in left { leavingContents.add(content) }
            throw error
        }
        if let failure { throw failure }
    }

    /// Deletes the files that no object refers to anymore, and the contents that no file has. To be called from time to
    /// time.
    ///
    /// - Throws: `RelataError` if the store can't be read or written, and the storage's errors.
    public func tendFiles() async throws {
        guard let files = options.files, hasFiles else { return }
        let contents = leavingContents.take()
        if !contents.isEmpty { try await deleteUnused(contents, files) }
        guard let lifetime = files.unusedLifetime, store.currentClasses.hasFiles else { return }
        let unused = try await store.write(as: .master) { transaction in
            try transaction.unusedFiles(since: transaction.now.addingTimeInterval(-lifetime))
        }
        for name in unused {
            try Task.checkCancellation()
            do {
                let content = try await delete(file: name, isForced: false)
                try await deleteUnused([content], files)
            } catch is ParseError {
                // The file has been deleted, or an object refers to it again.
            }
        }
    }

    /// The addresses of files.
    var fileURLs: FileURLs { FileURLs(at: address, keys, options) }
}

extension FileURLs {
    /// The addresses of a service's files.
    init(at address: PublicAddress, _ keys: ParseKeys, _ options: ParseService.Options) {
        self.init(
            prefix: "\(address.url)/files/\(FileName.encoded(keys.applicationID))/", signing: options.files?.signing)
    }
}

/// Unused contents that were too young to be deleted.
final class LeavingContents: Sendable {
    private let contents = Mutex<Set<String>>([])

    func add(_ content: String) { contents.withLock { _ = $0.insert(content) } }

    func take() -> [String] {
        contents.withLock { contents in
            defer { contents = [] }
            return contents.sorted()
        }
    }
}

extension ByteStream {
    /// Returns a stream of the same bytes that checks the size of the file.
    ///
    /// The stream throws ``ParseError`` 130 for more bytes than a file may have, or for none.
    func limited(to limit: Int) -> ByteStream {
        let size = Size()
        return ByteStream {
            let piece = try await next()
            let total = size.adding(piece?.count ?? 0)
            guard total > 0 else { throw ParseError(.fileSaveError, "Invalid file upload.") }
            guard total <= limit else {
                throw ParseError(.fileSaveError, "File size exceeds maximum allowed: \(limit) bytes.")
            }
            return piece
        }
    }

    /// The number of bytes so far.
    private final class Size: Sendable {
        private let count = Atomic(0)

        func adding(_ more: Int) -> Int { count.add(more, ordering: .relaxed).newValue }
    }
}

extension ParseCall {
    /// The facts about a file besides its bytes: in the body, as Parse's client for JavaScript sends them, or in a
    /// header field.
    ///
    /// - Throws: ``ParseError`` 107 for a value that isn't an object.
    fileprivate func fileData(_ name: String) throws(ParseError) -> JSONObject {
        let given = body["fileData"]?[name] ?? .null
        if given.isNull {
            guard let text = fileFields[name] else { return [:] }
            guard let object = try? JSONParser.parse(text).object else {
                throw ParseError(.invalidJSON, "Invalid JSON in X-Parse-File-\(name.capitalized) header.")
            }
            return object
        }
        guard let object = given.object else {
            throw ParseError(.invalidJSON, "fileData.\(name) must be an object")
        }
        return object
    }
}

extension ClassSet {
    /// Whether the store has files.
    var hasFiles: Bool { schema[InternalClasses.file]?.entity.isOfFiles == true }
}

extension ParseError {
    /// The error of requests for files in a store without files.
    static let filesAreOff = ParseError(.fileSaveError, "File upload is disabled.")
    static let noSuchFile = ParseError(.objectNotFound, "File not found.")
}
