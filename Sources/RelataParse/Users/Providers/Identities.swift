import RelataCore

/// A user's identities at other services: the id at each service, by the service's name. The service has verified the
/// id. `nil` for an identity that the request removes.
struct Identities: Sendable {
    private(set) var ids: [String: String?] = [:]

    /// No identities.
    static let none = Identities([:])

    private init(_ ids: [String: String?]) { self.ids = ids }

    /// Identities that another server of the app has verified.
    init(trusting authData: JSONObject) {
        ids = [:]
        for (provider, data) in authData {
            if let id = data["id"]?.string, (1...SignInProvider.maximumID).contains(id.utf8.count) {
                ids[provider] = .some(id)
            }
        }
    }

    var isEmpty: Bool { ids.isEmpty }

    /// The identities without removals, in the order of the services' names.
    var known: [(provider: String, id: String)] {
        ids.compactMap { provider, id in id.map { (provider, $0) } }.sorted { $0.provider < $1.provider }
    }

    /// The names of the services, as sessions store them.
    var names: String { known.map(\.provider).joined(separator: ",") }

    /// The identities without removals.
    var withoutRemovals: Identities { Identities(ids.filter { $0.value != nil }) }

    /// Asks the services to verify the data of a request.
    ///
    /// - Parameter stored: The user's `authData`. Data that a client sends back unchanged isn't verified again.
    /// - Throws: ``ParseError`` 252 for an unknown service and an invalid id; and the errors of
    ///   ``SignInProvider/id(by:claimed:)``.
    static func verified(
        _ authData: [String: JSONObject?], by providers: [SignInProvider], stored: JSONObject = [:]
    ) async throws -> Identities {
        var identities = none
        var asked: [(provider: SignInProvider, data: JSONObject, claimed: String?)] = []
        // All data is checked before the first service is asked.
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

    /// The user's `authData` with these changes: only the ids are stored, not the data that proved them.
    ///
    /// - Parameter stored: The user's `authData` before.
    func authData(after stored: JSONObject) -> JSONObject {
        var authData = stored
        for (provider, id) in ids { authData[provider] = id.map { ["id": .string($0)] } }
        return authData
    }
}

extension ParseError {
    /// The error for `authData` of an unknown service.
    static let providerIsUnknown = ParseError(.unsupportedService, "This authentication method is unsupported.")
    static let providerIsTaken = ParseError(.accountAlreadyLinked, "this auth is already used")
}
