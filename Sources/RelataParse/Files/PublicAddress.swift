import Synchronization

/// The public address of the protocol, with which the addresses of files begin.
package final class PublicAddress: Sendable {
    private let text: Mutex<String>

    package init(_ text: String) { self.text = Mutex(Self.trimmed(text)) }

    /// The address without a slash at its end.
    package var url: String {
        get { text.withLock { $0 } }
        set { text.withLock { $0 = Self.trimmed(newValue) } }
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last == "/" { text.removeLast() }
        return String(text)
    }
}
