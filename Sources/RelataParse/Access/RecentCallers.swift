/// The callers of recent requests, as they are in one state of the database: requests between two changes read them once.
///
/// A connection keeps them, and forgets them once any process commits a change.
final class RecentCallers {
    /// The parts of a request that decide who its caller is.
    private struct Key: Hashable {
        let isMaster: Bool
        let sessionToken: String?
        let subject: AccessSubject?

        init(_ caller: Caller) {
            isMaster = caller.isMaster
            sessionToken = caller.sessionToken
            subject = caller.subject
        }
    }

    private var classes: ClassSet?
    private var known: [Key: KnownCaller] = [:]
    private var size = 0
    private static let maximumSize = 20_000

    /// A caller; `nil` if it wasn't read yet.
    ///
    /// - Parameter classes: The classes of the store that reads: others give other rights.
    func caller(_ caller: Caller, in classes: ClassSet) -> KnownCaller? {
        if self.classes !== classes {
            self.classes = classes
            (known, size) = ([:], 0)
        }
        return known[Key(caller)]
    }

    /// Keeps a caller that was read.
    func add(_ caller: KnownCaller, for sender: Caller) {
        guard caller.size <= Self.maximumSize / 4 else { return }
        if size + caller.size > Self.maximumSize { (known, size) = ([:], 0) }
        if known.updateValue(caller, forKey: Key(sender)) == nil { size += caller.size }
    }
}
