import RelataCore

/// A request for a file, as the app's hooks get it.
struct HookedDownload: Sendable {
    let file: CloudFile
    let call: ParseCall
    let cloud: CloudCall
}

extension ParseService {
    /// A request for a file, as the app's hooks get it; `nil` if the app has no hooks of downloads.
    ///
    /// - Throws: ``ParseError`` 209 for a session that doesn't exist.
    func hookedDownload(
        of file: StoredFile, _ files: FileOptions, _ call: () throws(ParseError) -> ParseCall
    ) async throws -> HookedDownload? {
        guard asksHooks(ofFiles: [.beforeFind, .afterFind]) else { return nil }
        let call = try call()
        let cloud = try await cloudCall("file", call, parameters: [:])
        let asked = CloudFile(file, at: fileURLs.url(of: file.name), in: files.storage)
        return HookedDownload(file: asked, call: call, cloud: cloud)
    }

    /// Asks the app's hooks about a file that a request is about to read.
    ///
    /// - Throws: The error that refuses the request.
    func willFind(_ download: HookedDownload) async throws {
        let (file, call, cloud) = (download.file, download.call, download.cloud)
        if let hook = webhook(.beforeFind, Trigger.files) {
            _ = try await ask(hook, fileMembers(file, call, cloud))
            return
        }
        try await CodeFailure.catching {
            for body in options.code.files.beforeFind { try await body(file, cloud) }
        }
    }

    /// Asks the app's hooks about a file whose content is about to be sent.
    ///
    /// - Parameter isAttachment: Whether browsers save the file if no hook decides otherwise.
    /// - Returns: Whether browsers save the file.
    /// - Throws: The error that refuses the request.
    func didFind(_ download: HookedDownload, isAttachment: Bool) async throws -> Bool {
        let (file, call, cloud) = (download.file, download.call, download.cloud)
        if let hook = webhook(.afterFind, Trigger.files) {
            var members = fileMembers(file, call, cloud)
            members["forceDownload"] = .bool(isAttachment)
            guard let wish = try await ask(hook, members)["forceDownload"] else { return isAttachment }
            guard case .bool(let isWanted) = wish else {
                throw invalidReply(of: hook, "forceDownload in its reply must be true or false")
            }
            return isWanted
        }
        var asked = CloudDownload(file: file, isAttachment: isAttachment)
        try await CodeFailure.catching {
            for body in options.code.files.afterFind { try await body(&asked, cloud) }
        }
        return asked.isAttachment
    }
}

extension ParseCall {
    /// The call of a request for a file. It needs no keys, so a session alone identifies its user.
    ///
    /// - Parameters:
    ///   - rights: The rights that its keys give; `nil` for a request without keys.
    ///   - subject: The caller; `nil` for the sender of the request.
    ///   - signing: Signs the addresses of files.
    /// - Throws: ``ParseError`` 107 for a context that isn't an object.
    init(
        ofFile request: WireRequest, _ path: [String], _ rights: ParseKeys.Rights?, as subject: AccessSubject?,
        _ signing: FileSigning?
    ) throws(ParseError) {
        var caller = Caller(subject: subject)
        if subject == nil {
            if let rights { caller.take(rights) }
            if let token = request.headers["x-parse-session-token"], !token.isEmpty { caller.sessionToken = token }
        }
        var reader = FileURLReader(caller.isMaster ? nil : signing)
        let context = reader.read(try Self.context(.null, request.headers))
        caller.unprovenFiles = reader.unproven
        self.init(method: .get, path: path, body: [:], caller: caller, hasFiles: true, context: context)
        takeSender(request.headers, at: request.address)
    }
}
