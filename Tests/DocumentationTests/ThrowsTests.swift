import DocumentationSupport
import Foundation
import Testing

/// Finds public functions and properties that throw without a word about their errors, line by line.
private struct ThrowsScan {
    /// The number and the text of each line that declares such a symbol.
    private(set) var findings: [String] = []

    private let lines: [String]
    /// The indentations of the public protocols that are open: their members are public without the word.
    private var protocols: [Int] = []
    /// Whether the symbol, or the type around it, is marked as no part of the documentation.
    private var isInternal = false
    private var isInInternalType = false
    private var tellsErrors = false

    init(_ source: String) {
        lines = source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for number in lines.indices { read(number) }
    }

    private mutating func read(_ number: Int) {
        let text = lines[number].trimmingCharacters(in: .whitespaces)
        let indentation = lines[number].prefix { $0 == " " }.count
        if text.hasPrefix("///") {
            if text.contains("Throws") { tellsErrors = true }
            return
        }
        // Most lines begin with something else, and need no slow search by a pattern.
        let isPublic =
            (text.hasPrefix("public ") || text.hasPrefix("@"))
            && text.prefixMatch(of: /(@\w+(\([^)]*\))? )*public (?!import )/) != nil
        if text.hasPrefix("@") && !isPublic {
            if text.hasPrefix("@_documentation(visibility: internal)") { isInternal = true }
            return
        }
        if text.isEmpty || text.hasPrefix("//") || text.hasPrefix("#") { return }

        if indentation == 0, isInternal, text.hasSuffix("{") { isInInternalType = true }
        if indentation == 0, text.hasPrefix("}") { isInInternalType = false }
        let isMember =
            indentation - 4 == protocols.last
            && text.prefixMatch(of: /((static|mutating) )*(func|init|var|subscript)\b/) != nil
        if (isPublic || isMember) && !isInternal && !isInInternalType && !tellsErrors && needsErrors(number) {
            findings.append("\(number + 1): \(text)")
        }
        if isPublic, text.contains(" protocol "), text.hasSuffix("{") { protocols.append(indentation) }
        if text.hasPrefix("}"), protocols.last == indentation { protocols.removeLast() }
        tellsErrors = false
        isInternal = false
    }

    /// Whether the declaration that begins in a line throws itself, and not only its parameters do. A decoder's and an
    /// encoder's errors are known, and names with an underscore aren't for apps.
    private func needsErrors(_ first: Int) -> Bool {
        var text = lines[first]
        var last = first
        while last + 1 < lines.count, !Self.isWhole(text, before: lines[last + 1]) {
            last += 1
            text += " " + lines[last].trimmingCharacters(in: .whitespaces)
        }
        let own = Self.outsideParentheses(text)
        guard own.contains(/\b(func|init|subscript|var)\b/),
            !text.contains(/init\(from decoder|encode\(to encoder|func _/)
        else { return false }
        guard own.contains(/\bvar\b/) else { return own.prefix { $0 != "{" }.contains(/\bthrows\b/) }
        // A property's getter may throw: `{ get throws`, perhaps in the next line.
        let getter = text.hasSuffix("{") && last + 1 < lines.count ? lines[last + 1] : ""
        return (own + getter).contains(/\bget( async)? throws\b/)
    }

    private static func isWhole(_ text: String, before next: String) -> Bool {
        let own = outsideParentheses(text)
        return text.count { $0 == "(" } <= text.count { $0 == ")" }
            && (own.contains("{") || next.prefixMatch(of: /\s*(->|throws|async|where)/) == nil)
    }

    private static func outsideParentheses(_ text: String) -> String {
        var depth = 0
        return text.filter { letter in
            if "([".contains(letter) { depth += 1 }
            if ")]".contains(letter) { depth -= 1 }
            return depth == 0
        }
    }
}

@Suite struct ThrowsTests {
    @Test(arguments: ["Relata", "RelataRecords", "RelataTesting", "RelataParse", "RelataServer"])
    func everythingThatThrowsNamesItsErrors(module: String) throws {
        for path in PackageFiles.files(in: "Sources/\(module)", ".swift") {
            let source = try String(contentsOf: PackageFiles.root.appendingPathComponent(path), encoding: .utf8)
            #expect(ThrowsScan(source).findings == [], "\(path): name the errors in the comment, after - Throws:")
        }
    }

    @Test func theScanFindsWhatDoesNotNameItsErrors() {
        let source = """
            /// A shelf.
            public struct Shelf {
                /// Its books.
                public var books: [Book] { get async throws { try await read() } }
                /// Its number.
                public var number: Int {
                    get throws { 1 }
                }
                /// Adds a book.
                ///
                /// - Throws: `ShelfError` for a full shelf.
                public func add(_ book: Book) throws {}
                /// Adds some.
                public func add(
                    _ books: [Book], of title: String = title()
                ) async throws(ShelfError) -> Int
                where Book: Sendable { 1 }
                /// Calls something with each.
                public func forEach(_ body: (Book) throws -> Void) {}
                /// Reads one.
                public init(from decoder: any Decoder) throws {}
                func remove() throws {}
                @_documentation(visibility: internal)
                public func sort() throws {}
            }

            /// Holds books.
            public protocol Holder {
                /// Opens it.
                func open() throws
                /// Closes it.
                func close()
            }

            /// For the macros only.
            @_documentation(visibility: internal)
            public struct Part {
                /// Reads it.
                public func read() throws {}
            }
            """
        let found = ThrowsScan(source).findings.map { $0.prefix { $0 != ":" } }
        #expect(found == ["4", "6", "14", "30"])
    }
}
