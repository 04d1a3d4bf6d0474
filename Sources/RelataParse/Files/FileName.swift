import Foundation
import RelataCore

/// The name of a file from a client. It is never used as a path.
struct FileName: Hashable, Sendable {
    let text: String

    /// - Throws: ``ParseError`` 122 for an invalid name.
    init(_ text: String) throws(ParseError) {
        guard text.utf8.count <= 128 else { throw ParseError(.invalidFileName, "Filename too long.") }
        let isFine = text.utf8.enumerated().allSatisfy { place, byte in
            let isFirst = Self.isWord(byte) || byte == UInt8(ascii: "_")
            return place == 0 ? isFirst : isFirst || "@. ~-".utf8.contains(byte)
        }
        guard isFine, !text.isEmpty else {
            throw ParseError(.invalidFileName, "Filename contains invalid characters.")
        }
        self.text = text
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// A unique name that can't be guessed, with the extension of the type if it has none.
    func stored(type: String?) -> String { Token.hex(16) + "_" + completed(type: type) }

    /// The name, with the extension of the type if it has none.
    func completed(type: String?) -> String {
        let hasEnd = ContentType.end(of: text).map { !$0.isEmpty } ?? false
        let end = hasEnd ? nil : type.flatMap { ContentType.end(ofType: $0) }
        return text + (end.map { "." + $0 } ?? "")
    }

    /// The client's part of a stored name.
    static func given(_ stored: String) -> Substring {
        stored.firstIndex(of: "_").map { stored[stored.index(after: $0)...] } ?? stored[...]
    }

    /// Whether a name has the form of this server's names.
    static func isStored(_ name: String) -> Bool {
        let bytes = name.utf8
        return bytes.count > 33 && bytes.dropFirst(32).first == UInt8(ascii: "_")
            && bytes.prefix(32).allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    /// A stored name as a part of a URL.
    static func encoded(_ stored: String) -> String {
        stored.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
}
