/// A caller whose rights are used without a session: by code on the server, and for explanations.
public enum AccessSubject: Hashable, Sendable {
    /// A client without a session.
    case nobody
    /// A user, by id.
    case user(String)
    /// Any user who has only a role, and the roles that this role is a member of. The subject can only read, because
    /// objects are always written in the name of a user.
    case role(String)
}

extension CallerLookup {
    /// The caller that a subject stands for, before its rights are looked up.
    ///
    /// - Throws: ``ParseError`` 101 for a user or a role that doesn't exist.
    func identity(of subject: AccessSubject) throws -> KnownCaller {
        switch subject {
        case .nobody: return KnownCaller()
        case .user(let id):
            guard try isUser(id) else { throw ParseError(.objectNotFound, "there is no user \(id.prefix(64))") }
            let session = KnownCaller.SignedIn(id: "", user: id, end: nil)
            return KnownCaller(session: session, principals: try principals(of: session))
        case .role(let name):
            guard let names = try roles(including: name) else {
                throw ParseError(.objectNotFound, "there is no role \(name.prefix(64))")
            }
            // No user has this id.
            let session = KnownCaller.SignedIn(id: "", user: "", end: nil)
            return KnownCaller(session: session, principals: Set(["*"] + names.map { "role:" + $0 }))
        }
    }
}
