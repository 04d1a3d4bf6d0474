#if Server
import Foundation
import RelataCore
import RelataParse

/// Another Parse server, read through its REST API with the master key.
package struct ImportServer: ImportSource {
    private let url: String
    private let documents: HTTPSDocuments
    private let applicationID: String

    package let describesAllFields = true

    private static let pageSize = 1000
    private static let maximumReply = 1 << 30

    /// - Parameters:
    ///   - url: The protocol's URL: `https://example.org/parse`.
    ///   - certificates: A PEM file with the trusted certificates for the server; `nil` for those of the system.
    /// - Throws: `RelataError` for an invalid URL or key.
    package init(
        _ url: String, applicationID: String, masterKey: String, certificates: String? = nil
    ) throws(RelataError) {
        var documents = HTTPSDocuments()
        documents.timeout = .seconds(120)
        documents.maximumSize = Self.maximumReply
        documents.certificates = certificates
        documents.headers = [
            ("X-Parse-Application-Id", applicationID), ("X-Parse-Master-Key", masterKey),
        ]
        let plain = url.hasSuffix("/") ? String(url.dropLast()) : url
        if let problem = documents.problem ?? WebAddress.problem(plain) {
            throw .invalidUse("\(url) can't be asked: \(problem)")
        }
        guard
            [applicationID, masterKey].allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        else {
            throw .invalidUse(
                "the application's id and the master key must be ASCII without spaces"
            )
        }
        self.url = plain
        self.applicationID = applicationID
        self.documents = documents
    }

    private func results(_ path: String, _ parameters: [(String, String)] = []) async throws
        -> [JSONObject]
    {
        let query = parameters.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        }.joined(separator: "&")
        let body: [UInt8]
        do {
            body = try await documents.document(at: url + path + (query.isEmpty ? "" : "?" + query))
                .body
        } catch let error as SignInError {
            throw RelataError.invalidUse(error.description)
        }
        guard let results = (try? JSONParser.parse(body))?["results"]?.array?.compactMap(\.object)
        else {
            throw RelataError.invalidUse("\(url)\(path) isn't answered by a server with Parse's protocol")
        }
        return results
    }

    /// Fetches a file without the keys: it needs none, and its host may be another one, which mustn't get them.
    package func file(_ name: String, at url: String?) async throws -> [UInt8]? {
        var documents = documents
        documents.headers = []
        let own = "\(self.url)/files/\(applicationID)/\(name)"
        return try? await documents.document(at: url ?? own).body
    }

    package func schemas() async throws -> [JSONObject] { try await results("/schemas") }

    package func classNames() async throws -> [String] {
        try await schemas().compactMap { $0["className"]?.string }.sorted()
    }

    package func joinNames() async throws -> [String] { [] }

    package func page(of name: String, after position: String?) async throws -> ImportPage {
        let objects = try await page(of: name, where: [:], after: position)
        return ImportPage(objects, next: objects.last?["objectId"]?.string)
    }

    /// Fetches a page. A server may return fewer objects than requested, so only an empty page is the last.
    private func page(
        of name: String, where condition: JSONObject, after position: String?, keys: String? = nil
    ) async throws -> [JSONObject] {
        var condition = condition
        if let position { condition["objectId"] = ["$gt": .string(position)] }
        var parameters = [
            ("order", "objectId"), ("limit", "\(Self.pageSize)"),
            ("where", JSONWriter.text(.object(condition))),
        ]
        if let keys { parameters.append(("keys", keys)) }
        return try await results("/classes/\(name)", parameters)
    }

    package func members(
        of field: String, _ className: String, _ objectID: String, target: String
    ) async throws -> [String]? {
        let owner: JSONValue = [
            "__type": "Pointer", "className": .string(className), "objectId": .string(objectID),
        ]
        var members: [String] = []
        while true {
            let page = try await page(
                of: target, where: ["$relatedTo": ["object": owner, "key": .string(field)]],
                after: members.last,
                keys: "objectId")
            if page.isEmpty { return members }
            members += page.compactMap { $0["objectId"]?.string }
        }
    }
}
#endif
