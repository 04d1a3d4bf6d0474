import RelataCore

extension ParseService {
    /// The call for the app's hooks of files; `nil` if none of these triggers has a hook.
    func hookCall(_ call: ParseCall, ofFiles triggers: [Trigger]) async throws -> CloudCall? {
        asksHooks(ofFiles: triggers) ? try await cloudCall("file", call, parameters: [:]) : nil
    }

    /// Whether closures of the app or webhooks answer one of these triggers of files.
    func asksHooks(ofFiles triggers: [Trigger]) -> Bool {
        let classes = store.currentClasses
        return triggers.contains { options.asksHooks($0, Trigger.files, in: classes) }
    }

    /// Asks the app's hooks about a file whose content is stored, and which has no name yet.
    ///
    /// - Parameters:
    ///   - file: The file, which the hooks may change. If they throw, its content then is the one to release.
    ///   - given: The client's name.
    /// - Throws: The error that refuses the file.
    func willSave(
        _ file: inout StoredFile, named given: FileName, _ call: ParseCall, _ cloud: CloudCall, _ files: FileOptions
    ) async throws {
        let name = given.completed(type: call.contentType)
        var asked = CloudFile(file, named: name, in: files.storage)
        let hook = webhook(.beforeSave, Trigger.files)
        if let hook {
            let success = try await ask(hook, fileMembers(asked, call, cloud))
            do throws(ParseError) {
                try asked.take(success)
                try take(asked, from: name, into: &file, call, files)
            } catch {
                throw invalidReply(of: hook, "the file in its reply is invalid: \(error.message)")
            }
            return
        }
        for body in options.code.files.beforeSave {
            try await CodeFailure.catching { try await body(&asked, cloud) }
            guard let bytes = asked.replacement else { continue }
            leavingContents.add(file.content.id)
            file.content = try await files.storage.store(bytes.limited(to: files.maximumSize))
            (asked.content, asked.replacement) = (file.content, nil)
        }
        try take(asked, from: name, into: &file, call, files)
    }

    /// Takes over what the hooks have changed.
    ///
    /// - Throws: ``ParseError`` 122 for an invalid name, 130 for an extension that the client may not upload, 105 for
    ///   prohibited names of members.
    private func take(
        _ asked: CloudFile, from name: String, into file: inout StoredFile, _ call: ParseCall, _ files: FileOptions
    ) throws(ParseError) {
        if asked.name != name {
            let new = try FileName(asked.name)
            // The name may be derived from the client's data.
            if !call.isMaster { try files.checkExtension(new, type: call.contentType) }
            file.name = new.stored(type: call.contentType)
        }
        try options.prohibitedNames.check(asked.metadata)
        try options.prohibitedNames.check(asked.tags)
        (file.metadata, file.tags) = (asked.metadata, asked.tags)
    }

    /// Tells the app's hooks that a file was stored.
    func didSave(_ file: StoredFile, _ call: ParseCall, _ cloud: CloudCall, _ files: FileOptions) async {
        let told = CloudFile(file, at: fileURLs.url(of: file.name), in: files.storage)
        if let hook = webhook(.afterSave, Trigger.files) {
            return tell(hook, fileMembers(told, call, cloud))
        }
        for body in options.code.files.afterSave { await body(told, cloud) }
    }

    /// Asks the app's hooks about a file that is about to be deleted.
    ///
    /// - Throws: The error that refuses the deletion.
    func willDelete(_ file: StoredFile, _ call: ParseCall, _ cloud: CloudCall, _ files: FileOptions) async throws {
        let asked = CloudFile(file, at: fileURLs.url(of: file.name), in: files.storage)
        if let hook = webhook(.beforeDelete, Trigger.files) {
            _ = try await ask(hook, fileMembers(asked, call, cloud))
            return
        }
        try await CodeFailure.catching {
            for body in options.code.files.beforeDelete { try await body(asked, cloud) }
        }
    }

    /// Tells the app's hooks that a file was deleted.
    func didDelete(_ file: StoredFile, _ call: ParseCall, _ cloud: CloudCall, _ files: FileOptions) async {
        let told = CloudFile(file, at: fileURLs.url(of: file.name), in: files.storage)
        if let hook = webhook(.afterDelete, Trigger.files) {
            return tell(hook, fileMembers(told, call, cloud))
        }
        for body in options.code.files.afterDelete { await body(told, cloud) }
    }

    /// The members of a webhook's request about a file.
    func fileMembers(_ file: CloudFile, _ call: ParseCall, _ cloud: CloudCall) -> JSONObject {
        // With more members than these two, a file without an address gets none from the server.
        var json: JSONObject = ["__type": "File", "name": .string(file.name)]
        json["contentType"] = .string(file.contentType)
        json["metadata"] = .object(file.metadata)
        json["tags"] = .object(file.tags)
        json["url"] = file.url.map { .string($0) }
        var members: JSONObject = [
            "className": .string(Trigger.files), "file": .object(json), "fileSize": .integer(Int64(file.size)),
        ]
        members.merge(senderMembers(call, cloud))
        return members
    }
}

extension CloudFile {
    /// Applies a webhook's changes to the file.
    ///
    /// - Throws: ``ParseError`` 107 for members of another type.
    fileprivate mutating func take(_ success: JSONValue) throws(ParseError) {
        guard let members = success.object else { return }
        if let new = members["name"] {
            guard let text = new.string else { throw ParseError(.invalidJSON, "name must be a text") }
            name = text
        }
        func object(_ name: String) throws(ParseError) -> JSONObject? {
            guard let new = members[name] else { return nil }
            guard let object = new.object else { throw ParseError(.invalidJSON, "\(name) must be an object") }
            return object
        }
        if let new = try object("metadata") { metadata = new }
        if let new = try object("tags") { tags = new }
    }
}
