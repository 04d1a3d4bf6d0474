#if Server
import BenchmarkReport
import Foundation
import Relata
import RelataParse

/// The file, or the database of PostgreSQL, that servers serve: books with a publisher and an author, and a shelf that holds a hundred of them. Made over
/// the protocol.
struct SampleLibrary: Sendable {
    static let applicationID = "bench"
    static let clientKey = "0123456789abcdef0123456789abcdef"
    static let headers = ["X-Parse-Application-Id": applicationID, "X-Parse-Client-Key": clientKey]

    let path: String
    let books: [String]
    let shelf: String
    /// Books without pointers, as JSON: for new objects, and for the peer.
    let plainBooks: [String]

    init(_ path: String, books count: Int) async throws {
        let store = try ParseStore.open(path)
        let service = ParseService(store, keys: ParseKeys(applicationID: Self.applicationID))
        func create(_ className: String, _ body: String) async throws -> String {
            let reply = await service.respond(
                to: WireRequest(
                    method: "POST", path: "/classes/\(className)",
                    headers: ["x-parse-application-id": Self.applicationID], body: Array(body.utf8)))
            guard let id = try JSONParser.parse(reply.body)["objectId"]?.string else {
                throw Failure("no \(className) was made: \(String(decoding: reply.body, as: UTF8.self))")
            }
            return id
        }
        var publishers: [String] = []
        var authors: [String] = []
        for number in 0..<100 {
            publishers.append(
                try await create("Publisher", #"{"name": "Publisher \#(number)", "city": "City \#(number % 7)"}"#))
            authors.append(
                try await create("Author", #"{"name": "Author \#(number)", "born": \#(1900 + number)}"#))
        }
        var books: [String] = []
        for number in 0..<count {
            let pointers = [
                #""publisher": \#(Self.pointer("Publisher", publishers[number % 100]))"#,
                #""author": \#(Self.pointer("Author", authors[number * 7 % 100]))"#,
            ]
            books.append(try await create("Book", Self.book(number, pointers)))
        }
        let members = books.prefix(100).map { Self.pointer("Book", $0) }.joined(separator: ", ")
        shelf = try await create(
            "Shelf", #"{"name": "Shelf", "books": {"__op": "AddRelation", "objects": [\#(members)]}}"#)
        try store.close()
        self.path = path
        self.books = books
        plainBooks = (0..<count).map { Self.book($0) }
    }

    private static func book(_ number: Int, _ pointers: [String] = []) -> String {
        let members = [
            #""title": "The wonderful adventures, part \#(number)""#, #""year": \#(1900 + number * 7919 % 120)"#,
            #""price": \#(Double(number % 1000) / 10)"#, #""note": "Bought in shop number \#(number % 97)""#,
            #""inPrint": \#(number % 3 == 0)"#,
        ]
        return "{\((members + pointers).joined(separator: ", "))}"
    }

    private static func pointer(_ className: String, _ id: String) -> String {
        #"{"__type": "Pointer", "className": "\#(className)", "objectId": "\#(id)"}"#
    }

    // MARK: Requests

    /// Each book by its id.
    var get: HTTPCall { HTTPCall(paths: books.map { "/parse/classes/Book/\($0)" }, headers: Self.headers) }

    /// Another book.
    var create: HTTPCall {
        HTTPCall(method: "POST", paths: ["/parse/classes/Book"], bodies: plainBooks, headers: Self.headers)
    }

    /// A book of another class, so that the number of the others stays the same.
    var createElsewhere: HTTPCall {
        HTTPCall(method: "POST", paths: ["/parse/classes/NewBook"], bodies: plainBooks, headers: Self.headers)
    }

    /// A hundred books.
    var list: HTTPCall { HTTPCall(paths: ["/parse/classes/Book?limit=100"], headers: Self.headers) }

    /// A hundred books with their publishers and authors.
    var find: HTTPCall {
        HTTPCall(paths: ["/parse/classes/Book?limit=100&include=publisher,author"], headers: Self.headers)
    }

    /// The books of the shelf.
    var related: HTTPCall {
        let owner = #"{"$relatedTo":{"object":\#(Self.pointer("Shelf", shelf)),"key":"books"}}"#
        let condition = owner.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? owner
        return HTTPCall(paths: ["/parse/classes/Book?where=\(condition)"], headers: Self.headers)
    }

    /// Fifty books at once.
    var batch: HTTPCall {
        let bodies = stride(from: 0, to: plainBooks.count, by: 50).map { start in
            let requests = plainBooks[start..<min(start + 50, plainBooks.count)].map {
                #"{"method": "POST", "path": "/parse/classes/Book", "body": \#($0)}"#
            }
            return #"{"requests": [\#(requests.joined(separator: ", "))]}"#
        }
        return HTTPCall(method: "POST", paths: ["/parse/batch"], bodies: bodies, headers: Self.headers)
    }
}
#endif
