import RelataCore

extension ParseService {
    /// The parts of the server besides the database, and why one doesn't work; the reason is public, and the log has
    /// the details.
    package func parts() async -> [(name: String, problem: String?)] {
        var parts: [(name: String, problem: String?)] = []
        if let files = options.files, hasFiles {
            var problem: String?
            do {
                try await files.storage.check()
            } catch {
                problem = "files can't be stored at the moment"
            }
            parts.append(("files", problem))
        }
        if let queue {
            parts.append(
                (
                    "mail",
                    queue.isFailing ? "mails can't be sent at the moment: the server's log says why" : nil
                ))
        }
        return parts
    }

    /// Asks the mail server whether it accepts mails, for the health of the server.
    ///
    /// - Returns: The error, if the probe before succeeded.
    package func probeMail() async -> (any Error)? {
        guard let mail = options.mail, let queue else { return nil }
        do {
            try await mail.sender.probe()
            queue.note(isFailing: false)
            return nil
        } catch {
            // The server stops.
            if Task.isCancelled { return nil }
            return queue.note(isFailing: true) ? error : nil
        }
    }
}
