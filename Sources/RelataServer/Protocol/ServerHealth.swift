#if Server
/// The working and failing parts of a server, for `/readyz`.
public struct ServerHealth: Hashable, Sendable {
    /// A part of the server, such as its database or its mail server.
    public struct Part: Hashable, Sendable {
        /// The name of the part in the reply.
        public var name: String
        /// The reason why it doesn't work; `nil` if it does. Everybody can read it.
        public var problem: String?

        /// A part.
        public init(_ name: String, problem: String? = nil) {
            self.name = name
            self.problem = problem
        }
    }

    /// The reason why this server can't answer requests now, and should be sent none; `nil` if it can.
    public var problem: String?
    /// The parts. A part that doesn't work is shown, but doesn't take the server out of rotation by itself.
    public var parts: [Part]

    /// The working parts.
    public init(problem: String? = nil, parts: [Part] = []) {
        self.problem = problem
        self.parts = parts
    }
}
#endif
