/// Generates texts that a regular expression matches.
///
/// It supports literal characters, classes, groups, alternatives and repetitions. Of the sequences with a backslash, it
/// supports `\d`, `\w`, `\s` and escaped punctuation.
struct SamplePattern {
    private indirect enum Node {
        case characters([Character])
        case sequence([Node])
        case choice([Node])
        case repeated(Node, ClosedRange<Int>)
    }

    private let node: Node

    /// `nil` for a pattern with anything else in it.
    init?(_ pattern: String) {
        var parser = Parser(rest: pattern[...])
        guard let node = parser.choice(), parser.rest.isEmpty else { return nil }
        self.node = node
    }

    /// A text that the pattern matches.
    func text(_ random: inout SampleRandom) -> String { Self.text(of: node, &random) }

    private static func text(of node: Node, _ random: inout SampleRandom) -> String {
        switch node {
        case .characters(let characters): characters.randomElement(using: &random).map { String($0) } ?? ""
        case .sequence(let nodes): nodes.reduce(into: "") { $0 += text(of: $1, &random) }
        case .choice(let nodes): nodes.randomElement(using: &random).map { text(of: $0, &random) } ?? ""
        case .repeated(let node, let counts):
            (0..<Int.random(in: counts, using: &random)).reduce(into: "") { text, _ in
                text += Self.text(of: node, &random)
            }
        }
    }

    private struct Parser {
        var rest: Substring

        private static let digits = Array("0123456789")
        private static let letters = Array("abcdefghijklmnopqrstuvwxyz")
        private static let capitals = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")

        mutating func choice() -> Node? {
            var nodes: [Node] = []
            repeat {
                guard let node = sequence() else { return nil }
                nodes.append(node)
            } while skip("|")
            return nodes.count == 1 ? nodes[0] : .choice(nodes)
        }

        private mutating func sequence() -> Node? {
            var nodes: [Node] = []
            while let next = rest.first, next != "|", next != ")" {
                // The whole text is matched, so anchors add nothing.
                if skip("^") || skip("$") { continue }
                guard let atom = atom(), let node = repetition(of: atom) else { return nil }
                nodes.append(node)
            }
            return .sequence(nodes)
        }

        private mutating func atom() -> Node? {
            guard let next = rest.popFirst() else { return nil }
            switch next {
            case "(":
                if skip("?"), !skip(":") { return nil }
                guard let node = choice(), skip(")") else { return nil }
                return node
            case "[": return characterClass().map { .characters($0) }
            case ".": return .characters(Self.letters)
            case "\\": return escaped().map { .characters($0) }
            case "*", "+", "?", "{": return nil
            default: return .characters([next])
            }
        }

        /// The meaning of the character after a backslash.
        private mutating func escaped() -> [Character]? {
            guard let next = rest.popFirst() else { return nil }
            switch next {
            case "d": return Self.digits
            case "w": return Self.letters
            case "s": return [" "]
            default: return next.isLetter || next.isNumber ? nil : [next]
            }
        }

        private mutating func characterClass() -> [Character]? {
            let isNegated = skip("^")
            var members: [Character] = []
            while let next = rest.popFirst() {
                if next == "]", !members.isEmpty {
                    guard isNegated else { return members }
                    return (Self.letters + Self.capitals + Self.digits).filter { !members.contains($0) }
                }
                if next == "[" { return nil }
                guard let first = next == "\\" ? escaped() : [next] else { return nil }
                let isRange = rest.first == "-" && rest.dropFirst().first != "]"
                guard isRange, first.count == 1 else {
                    members += first
                    continue
                }
                rest.removeFirst()
                guard let last = rest.popFirst(), last != "\\", let low = first[0].unicodeScalars.first?.value,
                    let high = last.unicodeScalars.first?.value, low <= high, high - low < 1000
                else { return nil }
                members += (low...high).compactMap { Unicode.Scalar($0).map { Character($0) } }
            }
            return nil
        }

        private mutating func repetition(of node: Node) -> Node? {
            var counts: ClosedRange<Int>?
            if skip("?") {
                counts = 0...1
            } else if skip("*") {
                counts = 0...3
            } else if skip("+") {
                counts = 1...4
            } else if skip("{") {
                let parts = rest.prefix { $0 != "}" }
                rest = rest.dropFirst(parts.count)
                let numbers = parts.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
                guard skip("}"), let least = numbers.first ?? nil, (0...1000).contains(least) else { return nil }
                let most = numbers.count == 1 ? least : numbers[1] ?? (least + 2)
                guard least <= most, numbers.count <= 2 else { return nil }
                counts = least...min(most, least + 20)
            }
            guard let counts else { return node }
            if !skip("?") { _ = skip("+") }  // reluctant or possessive: the same texts
            return .repeated(node, counts)
        }

        private mutating func skip(_ character: Character) -> Bool {
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }
    }
}
