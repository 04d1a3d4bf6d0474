import RelataCore

/// Who somebody is for other services, by the names of the services: each has vouched for it, or was on the server's side
/// before. `nil` for a service that is to know the user no more.
struct Identities: Sendable {
    private(set) var ids: [String: String?] = [:]

    /// None.
    static let none = Identities([:])

    private init(_ ids: [String: String?]) { self.ids = ids }

    /// Those that another server of the app has verified.
    init(trusting authData: JSONObject) {
        ids = [:]
        for (provider, data) in authData {
            if let id = data["id"]?.string, (1...SignInProvider.maximumID).contains(id.utf8.count) {
                ids[provider] = .some(id)
            }
        }
    }

    var isEmpty: Bool { ids.isEmpty }

    /// Those that say who somebody is.
    var known: [(provider: String, id: String)] {
        ids.compactMap { provider, id in id.map { (provider, $0) } }.sorted { $0.provider < $1.provider }
    }

    /// The services, as sessions name them.
    var names: String { known.map(\.provider).joined(separator: ",") }

    /// The same without those that are to go.
    var withoutRemovals: Identities { Identities(ids.filter { $0.value != nil }) }

    /// Asks the services about what a client sent.
    ///
    /// - Parameter stored: What the user has already. What is sent back as it was told changes nothing, and isn't asked.
    /// - Throws: ``ParseError`` 252 for a service that there isn't, or without an id; and what
    ///   ``SignInProvider/id(by:claimed:)`` throws.
    static func verified(
        _ authData: [String: JSONObject?], by providers: [SignInProvider], stored: JSONObject = [:]
    ) async throws -> Identities {
        var identities = none
        var asked: [(provider: SignInProvider, data: JSONObject, claimed: String?)] = []
        // No service is asked where another can't be.
        for (name, data) in authData.sorted(by: { $0.key < $1.key }) {
            guard let data else {
                identities.ids[name] = .some(nil)
                continue
            }
            guard !data.isEmpty else { throw ParseError.providerIsUnknown }
            if let known = stored[name]?.object, data.allSatisfy({ known[$0.key] == $0.value }) { continue }
            if name == UserFields.anonymous {
                identities.ids[name] = try claimedID(of: name, data["id"] ?? .null, least: 8)
            } else if let provider = providers.first(where: { $0.name == name }) {
                asked.append((provider, data, try data["id"].map { try claimedID(of: name, $0, least: 1) }))
            } else {
                throw ParseError.providerIsUnknown
            }
        }
        for (provider, data, claimed) in asked {
            identities.ids[provider.name] = try await provider.id(by: data, claimed: claimed)
        }
        return identities
    }

    private static func claimedID(
        of provider: String, _ value: JSONValue, least: Int
    ) throws(ParseError) -> String {
        guard let id = value.string, (least...SignInProvider.maximumID).contains(id.utf8.count) else {
            throw ParseError(
                .unsupportedService,
                "\(provider.prefix(64)): the id must be text of \(least) to \(SignInProvider.maximumID) bytes")
        }
        return id
    }

    /// What `authData` holds of a user afterwards: the ids, and nothing of what they were shown by.
    ///
    /// - Parameter stored: What it held before.
    func authData(after stored: JSONObject) -> JSONObject {
        var authData = stored
        for (provider, id) in ids { authData[provider] = id.map { ["id": .string($0)] } }
        return authData
    }
}

extension ParseError {
    /// What `authData` gets that no service of this server can vouch for.
    static let providerIsUnknown = ParseError(.unsupportedService, "This authentication method is unsupported.")
    static let providerIsTaken = ParseError(.accountAlreadyLinked, "this auth is already used")
}
