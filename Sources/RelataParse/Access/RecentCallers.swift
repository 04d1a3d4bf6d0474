/// The callers of recent requests, as they are in one state of the database: requests between two changes read them once.
///
/// A connection keeps them, and forgets them once any process commits a change.
final class RecentCallers {
    /// The parts of a request that decide who its caller is.
    struct Key: Hashable {
        private let isMaster: Bool
        /// The digest of the session's token: tokens aren't kept in memory, and stores with other digests, or without
        /// users, don't know each other's sessions.
        private let session: [UInt8]?
        private let subject: AccessSubject?

        /// `nil` for a session in a store without users.
        init?(_ caller: Caller, _ secrets: (any SecretHashing)?) {
            if caller.sessionToken != nil, secrets == nil { return nil }
            isMaster = caller.isMaster
            session = caller.sessionToken.flatMap { secrets?.digest(of: $0) }
            subject = caller.subject
        }
    }

    private var classes: ClassSet?
    private var known = KeptCallers<Key>()

    /// A caller; `nil` if it wasn't read yet.
    ///
    /// - Parameter classes: The classes of the store that reads: others give other rights.
    func caller(_ key: Key, in classes: ClassSet) -> KnownCaller? {
        if self.classes !== classes {
            self.classes = classes
            known = KeptCallers()
        }
        return known[key]
    }

    /// Keeps a caller that was read.
    func add(_ caller: KnownCaller, for key: Key) { known.add(caller, for: key) }
}
